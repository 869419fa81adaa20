import asyncio
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from trainway.engine.phases import Phase
from trainway.engine.stacks.hang_watch import HangWatch, hang_message, timeout_of
from trainway.engine.stored_job import Change
from trainway.errors import DatabaseError
from trainway.jobset.labels import HANG_TIMEOUT
from trainway.json_types import Json

OBJECT = {"kind": "JobSet", "metadata": {"annotations": {HANG_TIMEOUT: "30"}}}


class World:
    """A job that runs, and a clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sizes = {"log": 1}
        self.ended: list[float] = []
        self.objects: list[Any] = [OBJECT]
        self.gap, self.is_locked = "", False
        self.told: list[str] = []
        backend = SimpleNamespace(log_sizes=self._sizes, log_gap=self._gap)
        record = SimpleNamespace(
            phase=Phase.RUNNING, attempt=0, progress="", handle="{}", handle_data={}
        )
        self.job: Any = SimpleNamespace(id="j", backend=backend, record=record)
        self.job.observation = SimpleNamespace(progress={})
        stacks: Any = SimpleNamespace(objects=self._objects, live={"j": self.job})
        self.watch = HangWatch(stacks, lambda: self.now)

    async def _sizes(self, _handle: object) -> dict[str, int]:
        return dict(self.sizes)

    async def observe(self, decide: Callable[[], Change]) -> None:
        if self.is_locked:
            raise DatabaseError("the database is locked")
        self.told += cast("list[str]", decide().events)

    async def _gap(self, _handle: object) -> str:
        return self.gap

    async def _objects(self, _id: str) -> list[Any]:
        return self.objects

    def look(self) -> None:
        asyncio.run(self.watch.look(self.job))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()

    async def end(_watch: HangWatch, _job: object, _silent: object) -> None:
        made.ended.append(made.now)

    monkeypatch.setattr(HangWatch, "_end", end)
    made.job.event = lambda reason, message, kind: f"{kind} {reason}: {message}"
    made.job.observe = made.observe
    return made


def write(world: World) -> None:
    world.sizes["log"] += 1


def report(world: World) -> None:
    world.job.observation.progress = {"lastUpdatedTime": "later"}


def restart(world: World) -> None:
    world.job.record.attempt += 1


def pause(world: World) -> None:
    world.job.record.phase = Phase.PAUSED


def test_a_job_that_is_silent_for_too_long_is_ended_once(world: World) -> None:
    for _ in range(32):
        world.look()
        world.now += 1
    assert world.ended == [1030.0]


@pytest.mark.parametrize("sign", [write, report, restart, pause])
def test_any_sign_of_life_starts_the_time_anew(world: World, sign: Callable[[World], None]) -> None:
    world.look()
    world.now += 29
    sign(world)
    world.look()
    world.now += 29
    world.look()
    assert world.ended == []


def test_logs_that_are_not_kept_any_more_do_not_end_a_job(world: World) -> None:
    world.gap = "the logs of this job have reached their limit"
    for _ in range(100):
        world.look()
        world.now += 1
    assert world.ended == []
    assert world.told == [f"Warning HangNotKnown: whether the job hangs is not known: {world.gap}"]


def test_what_the_locked_database_did_not_take_is_told_later(world: World) -> None:
    world.gap, world.is_locked = "the disk is full", True
    world.look()
    world.now += 30
    with pytest.raises(DatabaseError):
        world.look()
    world.is_locked = False
    world.now += 30
    world.look()
    assert len(world.told) == 1
    assert world.ended == []


@pytest.mark.parametrize(
    ("problem", "end"),
    [
        ({}, "trainway jobs stacks j --attempt 3 shows all stacks"),
        (
            {"problem": "the stacks could not be kept: No space left on device"},
            "the stacks could not be kept: No space left on device",
        ),
    ],
    ids=["kept", "not kept"],
)
def test_what_is_said_of_a_hang(problem: dict[str, str], end: str) -> None:
    stacks: Json = {"attempt": 2, "time": "T", **problem}
    message = hang_message("j", stacks, {"processes": []}, timedelta(seconds=30.5))
    assert message == f"no report and no line of a log for 30 s until T; {end}"


def test_a_job_that_is_seen_for_the_first_time_has_all_its_time(world: World) -> None:
    world.now += 10_000
    world.look()
    assert world.ended == []


def test_a_job_without_the_annotation_may_be_silent(world: World) -> None:
    world.objects = [{"kind": "JobSet", "metadata": {}}, cast("Any", {"metadata": None})]
    for _ in range(3):
        world.look()
        world.now += 10_000
    assert world.ended == []
    assert timeout_of(world.objects) is None


def test_jobs_that_may_be_silent_are_looked_at_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server with 10,000 of them spent a good part of each second on that."""
    world, looked = World(), []
    look = HangWatch.look

    async def noted(watch: HangWatch, job: Any) -> None:
        looked.append(job.id)
        await look(watch, job)

    async def objects(job_id: str) -> list[Any]:
        return [OBJECT] if job_id == "limited" else []

    monkeypatch.setattr(HangWatch, "look", noted)
    record, blind = SimpleNamespace(**vars(world.job.record), name=""), object()
    backends = {"limited": world.job.backend, "unlimited": world.job.backend, "blind": blind}
    observation = world.job.observation
    live = {
        key: SimpleNamespace(id=key, backend=backend, record=record, observation=observation)
        for key, backend in backends.items()
    }
    watch = HangWatch(cast("Any", SimpleNamespace(live=live, objects=objects)))
    for _ in range(3):
        asyncio.run(watch.look_at_all())
    assert looked == ["limited", "unlimited", "limited", "limited"]
