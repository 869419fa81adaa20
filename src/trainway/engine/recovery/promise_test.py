import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from trainway.engine.observation import RUNS
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, stored
from trainway.engine.recovery.avoidance import Avoidances, with_failure
from trainway.engine.recovery.promise import (
    RENTED_START_S,
    Promise,
    aim_of,
    decided,
    promise_of,
)
from trainway.engine.recovery.strategy import Target
from trainway.engine.recovery.uniform_progress import Place
from trainway.engine.times import time_text
from trainway.json_types import Json

BEGAN = datetime(2026, 11, 18, tzinfo=UTC)
NOW = BEGAN + timedelta(hours=2)
PROMISE = Promise(time_text(BEGAN + timedelta(hours=8)), 5 * 3600.0, time_text(BEGAN))
PLACES = ("a", "b", "sure")


def lost(*places: str) -> Avoidances:
    known: Avoidances = {}
    for place in places:
        known = with_failure(known, place, "lost", NOW, 0.0)
    return known


@dataclass(frozen=True)
class Case:
    """A job that has run for so many minutes of two hours."""

    name: str
    here: str
    ran_minutes: float
    place: Place
    aim: Target | None
    phase: Phase = Phase.RUNNING
    avoided: Avoidances = field(default_factory=dict)
    progress: Json = field(default_factory=dict)
    has_ended: bool = False


WAITS, OVER = Phase.RESTARTING, Phase.PAUSED
HALF: Json = {"progressPercentage": 50}
NOTHING: Json = {}
SOON = time_text(NOW + timedelta(minutes=1))
CASES = [
    Case("runs-cheaply-and-behind", "a", 10, Place.CHEAP, None),
    Case("waits-at-cheap-in-time", "a", 80, Place.IDLE, None, Phase.QUEUED),
    Case("waits-at-cheap-behind", "a", 70, Place.SURE, Target("sure"), Phase.QUEUED),
    Case("lost-and-another-is-free", "a", 70, Place.CHEAP, Target("b"), WAITS, lost("a")),
    Case("lost-all-in-time", "a", 80, Place.IDLE, None, WAITS, lost("a", "b")),
    Case("lost-all-behind", "a", 70, Place.SURE, Target("sure"), WAITS, lost("a", "b")),
    Case("surely-and-behind", "sure", 70, Place.SURE, None),
    Case("surely-with-a-lead", "sure", 90, Place.CHEAP, Target("a")),
    Case("surely-with-a-lead-and-no-cheap", "sure", 90, Place.SURE, None, avoided=lost("a", "b")),
    Case("says-that-it-is-ahead", "sure", 1, Place.CHEAP, Target("a"), progress=HALF),
    Case("ended", "a", 90, Place.IDLE, Target("a", SOON), OVER, lost("a", "b"), NOTHING, True),
    Case("ended-behind", "a", 70, Place.SURE, Target("sure"), OVER, lost("a", "b"), NOTHING, True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_where_a_deadline_has_a_job_run(case: Case) -> None:
    end = time_text(BEGAN + timedelta(minutes=case.ran_minutes))
    run = {"attempt": 0, "start": time_text(BEGAN), "end": end}
    columns = stored({"observed": {RUNS: [run]}, "progress": case.progress})
    record = JobRecord(
        id="i", name="demo", namespace="default", kind="JobSet", backend=case.here,
        phase=case.phase, **columns,
    )  # fmt: skip
    found = decided(PROMISE, record, record.backend, PLACES, case.avoided, NOW)
    assert found.place is case.place
    aim = aim_of(found, case.here, PLACES, case.avoided, NOW, has_ended=case.has_ended)
    assert aim == case.aim


@pytest.mark.parametrize(
    ("rents", "minutes", "place"),
    [(True, 4, Place.CHEAP), (True, 6, Place.SURE), (False, 1, Place.SURE)],
)
def test_machines_that_are_being_made_are_a_place_for_as_long_as_a_start_takes(
    rents: bool, minutes: float, place: Place
) -> None:
    promise = replace(PROMISE, rents=rents, start_s=RENTED_START_S)
    record = JobRecord(
        id="i", name="demo", namespace="default", kind="JobSet", backend="a", phase=Phase.QUEUED
    )
    since = time_text(NOW - timedelta(minutes=minutes))
    assert decided(promise, record, record.backend, PLACES, {}, NOW, since).place is place


def test_what_is_shown_of_a_deadline() -> None:
    assert PROMISE.view() == {
        "at": PROMISE.at,
        "workSeconds": 18000.0,
        "doneSeconds": 0.0,
        "slackSeconds": 10800.0,
        "place": Place.IDLE,
    }


def test_a_task_counts_what_was_done_before_it() -> None:
    task = replace(PROMISE, stage=(1, 4))
    run = {"attempt": 0, "start": time_text(BEGAN), "end": time_text(NOW)}
    record = JobRecord(
        id="i", name="demo", namespace="default", kind="JobSet", backend="a",
        phase=Phase.RUNNING, **stored({"observed": {RUNS: [run]}, "progress": NOTHING}),
    )  # fmt: skip
    assert (
        decided(task, record, record.backend, PLACES, {}, NOW).done_s == 2 * 4500
    )  # of its own no more
    told = record.with_columns({"progress": HALF})
    assert decided(task, told, told.backend, PLACES, {}, NOW).done_s == 1.5 * 4500
    assert promise_of(json.loads(json.dumps(asdict(task)))) == task
