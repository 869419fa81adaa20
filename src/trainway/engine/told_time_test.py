import asyncio
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from trainway.backends.testing import FakeBackend
from trainway.engine.database import open_database
from trainway.engine.observation import Observation
from trainway.engine.store import Store
from trainway.engine.testing import NOW, World, act
from trainway.engine.times import time_text
from trainway.engine.told_time import believed
from trainway.json_types import Json

GIVEN = "2026-11-15T05:00:00.000000Z"
READ = "2026-11-15T07:00:00.000000Z"
LATER = "2026-11-15T08:00:00.000000Z"
ENDED = "2026-11-15T09:00:00.000000Z"
POD = "node-0-0"


@dataclass(frozen=True)
class Case:
    name: str
    told: str
    found: str
    since: str = GIVEN
    learned: str = READ


CASES = [
    Case("in between", "2026-11-15T06:00:00Z", "2026-11-15T06:00:00Z"),
    Case("a little before", "2026-11-15T04:59:30Z", "2026-11-15T04:59:30Z"),
    Case("a little ahead", "2026-11-15T07:00:30Z", "2026-11-15T07:00:30Z"),
    Case("years behind", "2001-01-01T00:00:00Z", READ),
    Case("hours behind", "2026-11-15T03:00:00Z", READ),
    Case("years ahead", "2040-01-01T00:00:00Z", READ),
    Case("nobody knows since when", "2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z", since=""),
    Case("nobody knows until when", "2040-01-01T00:00:00Z", "2040-01-01T00:00:00Z", learned=""),
    Case("nothing was told", "", ""),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_believed(case: Case) -> None:
    assert believed(case.told, case.since, case.learned) == case.found


def pod(phase: str, time: str, started: str, *, ready: bool = False) -> Json:
    record = {"type": "pod", "pod": POD, "time": time, "phase": phase, "attempt": 0}
    return {**record, "ready": ready, "containers": [{"name": "main", "startedAt": started}]}


def suspended(status: str, time: str, since: str) -> Json:
    condition = {"type": "Suspended", "status": status, "lastTransitionTime": since}
    return {"type": "status", "time": time, "jobset": {"conditions": [condition]}}


def transition(observed: Observation) -> str:
    (condition,) = observed.jobset["conditions"]
    return str(condition["lastTransitionTime"])


@pytest.mark.parametrize("wrong", ["1970-01-01T00:00:07Z", "2040-01-01T00:00:00Z"])
def test_what_is_counted_goes_by_the_clock_of_the_server(wrong: str) -> None:
    observed = Observation(given_at=GIVEN, known_at=GIVEN)
    observed.fold([pod("Running", wrong, wrong)], READ)
    observed = Observation.of(observed.to_dict(), observed.started)
    observed.fold([pod("Running", wrong, wrong, ready=True)], LATER)
    observed.fold([{"type": "end", "time": wrong, "succeeded": True}], ENDED)
    assert observed.started == READ
    assert observed.runs == [{"attempt": 0, "start": READ, "end": ENDED}]
    assert observed.end is not None
    assert observed.end["time"] == ENDED


def test_a_host_with_a_wrong_clock_is_dated_by_the_agent_that_tells_of_it() -> None:
    noted = "2026-11-15T06:00:00Z"
    observed = Observation(given_at=GIVEN, known_at=GIVEN)
    observed.fold([pod("Running", noted, "1970-01-01T00:00:07Z")], READ)
    assert observed.started == noted
    assert observed.runs == [{"attempt": 0, "start": noted}]


@pytest.mark.parametrize("wrong", ["2026-11-15T03:00:00Z", "2040-01-01T00:00:00Z"])
def test_when_it_was_resumed_goes_by_the_clock_of_the_server_and_stays(wrong: str) -> None:
    observed = Observation(given_at=GIVEN, known_at=GIVEN)
    observed.fold([suspended("False", wrong, wrong)], READ)
    observed.fold([suspended("False", wrong, wrong)], LATER)
    assert transition(observed) == READ


def test_what_is_told_once_more_stays() -> None:
    begin = "2026-11-15T05:30:00Z"
    observed = Observation(given_at=GIVEN, known_at=GIVEN)
    observed.fold([suspended("False", begin, begin), pod("Running", begin, begin)], READ)
    again = suspended("False", LATER, begin), pod("Running", LATER, begin, ready=True)
    observed.fold(again, ENDED)
    assert transition(observed) == observed.started == begin
    assert observed.runs == [{"attempt": 0, "start": begin}]


def test_a_journal_of_hours_that_is_read_in_parts_keeps_its_times() -> None:
    began, ended = "2026-11-15T05:30:00Z", "2026-11-15T06:30:00Z"
    observed = Observation(given_at=GIVEN, known_at=GIVEN)
    observed.fold([{"type": "placement", "time": began}], ENDED)
    observed.fold([suspended("False", began, began)], ENDED)
    observed.fold([pod("Running", began, began)], ENDED)
    observed.fold([{"type": "end", "time": ended, "succeeded": True}], ENDED)
    assert observed.runs == [{"attempt": 0, "start": began, "end": ended}]
    assert transition(observed) == observed.started == began
    assert observed.end is not None
    assert observed.end["time"] == ended


def test_a_start_that_is_told_late_keeps_its_time() -> None:
    began = "2026-11-15T05:30:00Z"
    observed = Observation(given_at=GIVEN, known_at=GIVEN)
    observed.fold([{"type": "placement", "time": LATER}], LATER)
    observed.fold([pod("Running", ENDED, began)], ENDED)
    assert observed.started == began
    assert observed.runs == [{"attempt": 0, "start": began}]


def test_a_clock_that_is_behind_is_not_believed_later_either() -> None:
    wrong = "2026-11-15T03:00:00Z", "2026-11-15T05:10:00Z"
    observed = Observation(given_at=GIVEN, known_at=GIVEN)
    observed.fold([pod("Running", wrong[0], wrong[0])], READ)
    observed.fold([{"type": "end", "time": wrong[1], "succeeded": True}], ENDED)
    assert observed.runs == [{"attempt": 0, "start": READ, "end": ENDED}]


@pytest.mark.parametrize("wrong", ["1970-01-01T00:00:07Z", "2026-11-15T05:10:00Z"])
def test_the_time_of_a_job_begins_after_it_was_given_to_its_backend(
    tmp_path: Path, wrong: str
) -> None:
    backend, url = FakeBackend(), f"sqlite:///{tmp_path / 'x.db'}"
    ids: list[str] = []

    async def before(world: World) -> None:
        first = await world.submit("first", requests={"cpu": "4"})
        ids.append(await world.submit(requests={"cpu": "4"}))
        world.now += timedelta(hours=2)
        (await world.begun(first)).end()
        await world.begun(ids[0])

    async def after(world: World) -> None:
        world.now += timedelta(hours=2, minutes=5)
        job = await world.begun(ids[0])
        job.records.append({"seq": 0, **pod("Running", wrong, wrong)})
        job.changed.set()
        status = (await world.until("demo", "Running"))["status"]
        assert status["startTime"] == time_text(NOW + timedelta(hours=2, minutes=5))

    async def run() -> None:
        await act(before, World(backend, Store(open_database(url))))
        await act(after, World(backend, Store(open_database(url))))

    asyncio.run(run())
