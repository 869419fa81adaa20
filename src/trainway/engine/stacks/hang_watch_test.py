import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from trainway.engine.phases import Phase
from trainway.engine.stacks.hang_watch import HangWatch, timeout_of
from trainway.jobset.labels import HANG_TIMEOUT

OBJECT = {"kind": "JobSet", "metadata": {"annotations": {HANG_TIMEOUT: "30"}}}


class World:
    """A job that runs, and a clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sizes = {"log": 1}
        self.ended: list[float] = []
        self.objects: list[Any] = [OBJECT]
        self.gap = ""
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

    async def tell(_watch: HangWatch, _job: object, reason: str, message: str) -> None:
        made.told.append(f"{reason}: {message}")

    monkeypatch.setattr(HangWatch, "_end", end)
    monkeypatch.setattr(HangWatch, "_tell", tell)
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
    assert world.told == [f"HangNotKnown: whether the job hangs is not known: {world.gap}"]


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
