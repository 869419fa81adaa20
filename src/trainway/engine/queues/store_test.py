"""What queues and moves keep in the database, on SQLite and on PostgreSQL."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from trainway.engine.database import open_database
from trainway.engine.moving.candidates import Candidates, candidates_of
from trainway.engine.moving.move import Candidate, Move, Step, move_of
from trainway.engine.phases import Phase
from trainway.engine.queues.record import EndedJob, record_of
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.store import Store
from trainway.queueing.queue_policy import QueuePolicy, QueueState

SPEC = JobSpec([{"kind": "JobSet"}], {}, {"spec": {}}, [])
THEN = "2026-11-15T05:00:00Z"
JOB = JobRecord(id="a", name="demo", namespace="default", kind="JobSet", backend="local")


@pytest.fixture
def store(new_database: Callable[[], str]) -> Iterator[Store]:
    made = Store(open_database(new_database()))
    yield made
    made.close()


def test_a_queue_is_kept_once_and_by_its_name(store: Store) -> None:
    team = QueuePolicy("team", quota={"cpu": 2000}, cohort="all")
    store.queues.put(record_of(team, THEN))
    store.queues.put(record_of(QueuePolicy("other"), THEN))
    store.queues.put(record_of(replace(team, state=QueueState.DRAINING), THEN))
    found = {record.name: record.policy for record in store.queues.all()}
    assert list(found) == ["other", "team"]
    assert (found["team"].state, found["team"].cohort) == (QueueState.DRAINING, "all")
    assert found["team"].quota == team.quota
    store.queues.remove("team")
    assert [record.name for record in store.queues.all()] == ["other"]


def test_jobs_that_ended_count_since_a_time(store: Store) -> None:
    for id_, finished, ran in (("a", THEN, 90.5), ("b", "2026-10-01T00:00:00Z", 1.0)):
        job = replace(JOB, id=id_, queue="team", finished=finished, ran_seconds=ran)
        store.add(replace(job, phase=Phase.SUCCEEDED), SPEC)
    store.add(replace(JOB, id="c", phase=Phase.RUNNING), SPEC)
    ended = store.queues.ended("2026-11-01T00:00:00Z")
    assert ended == [EndedJob("team", JOB.labels, JOB.demand, "", THEN, 90.5)]


def test_a_move_is_the_same_when_it_is_read_again(store: Store) -> None:
    to = Candidate("ssh/lab", [{"kind": "JobSet", "text": "ü"}], ("/k",), {"A": "b"})
    move = Move(Step.LEAVING, to, Candidate("local", ()), resumes=True, seq=2**40, withdraws=True)
    others = Candidates((to,), 1.5, THEN)
    store.add(replace(JOB, phase=Phase.QUEUED), SPEC)
    store.update("a", {"move": move.text(), "candidates": others.text(), "making_room": "b"})
    found = store.get("a")
    read, kept = move_of(found), candidates_of(found)
    assert (found.making_room, found.queue) == ("b", "default")
    assert read is not None
    assert (read.text(), read.step, read.seq) == (move.text(), Step.LEAVING, 2**40)
    assert kept is not None
    assert kept.text() == others.text()
    store.update("a", {"move": None, "candidates": None, "making_room": None})
    assert store.get("a").move is None
