"""Days of the real engine on a virtual clock: every job ends once, as it should, whatever fails."""

import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.base import BackendSettings
from trainway.backends.registry import Registry
from trainway.engine.database import open_database
from trainway.engine.jobs import Engine
from trainway.engine.simulation_testing import NODE_CPUS, SimulatedBackend, VirtualLoop
from trainway.engine.store import Store
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset
from trainway.errors import ConflictError
from trainway.json_types import Json

DAY_S = 86_400.0
MEAN_S = 7200.0


@dataclass(frozen=True)
class Size:
    jobs: int
    nodes: int
    days: float
    node_failures: int
    engines: int
    """How often the server is another one."""


@dataclass
class Week:
    """Users, who submit and change their minds, and what they may expect."""

    size: Size
    loop: VirtualLoop
    url: str
    dice: random.Random
    expected: dict[str, set[str]] = field(default_factory=dict)
    changed_minds: set["asyncio.Task[None]"] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.backend = SimulatedBackend(self.size.nodes, self.dice, self.loop)
        self.engine = self._new_engine()

    def _new_engine(self) -> Engine:
        registry = Registry(BackendSettings(Path("/")))
        registry.put(self.backend)
        return Engine(Store(open_database(self.url)), registry, clock=self.loop.clock)

    async def play(self) -> list[Json]:
        """All of it; the jobs in the end."""
        await self.engine.start()
        length = self.size.days * DAY_S
        failing = asyncio.create_task(self.backend.fail_nodes(length / self.size.node_failures))
        moments: list[tuple[float, Callable[[], Awaitable[None]]]] = [
            (self.dice.uniform(0, length), self._submit) for _ in range(self.size.jobs)
        ]
        between = length / (self.size.engines + 1)
        moments += [
            (between * (number + 1), self._replace_engine) for number in range(self.size.engines)
        ]
        for moment, happen in sorted(moments, key=lambda pair: pair[0]):
            await asyncio.sleep(max(0.0, moment - self.loop.time()))
            await happen()
        failing.cancel()  # else a gang of half of all nodes might begin anew for years
        await asyncio.gather(failing, return_exceptions=True)
        await asyncio.gather(*self.changed_minds)
        while not self.engine.is_idle:
            await asyncio.sleep(600)
        jobs = [await self.engine.reading.get(ref) for ref in self.expected]
        await self.engine.close()
        return jobs

    async def _replace_engine(self) -> None:
        """Another server takes over."""
        former, self.engine = self.engine, self._new_engine()
        await former.close()
        await self.engine.start()

    async def _submit(self) -> None:
        pods = min(self.size.nodes // 2, int(self.dice.paretovariate(1.5)))
        seconds = self.dice.expovariate(1 / MEAN_S)
        is_good = self.dice.random() < 0.9
        name = f"job-{len(self.expected)}"
        command = f"{seconds:.1f} {0 if is_good else 1}"
        job = jobset(name, command, pods=pods, requests={"cpu": str(NODE_CPUS)})
        priority = self.dice.choice((0, 0, 0, 10))
        shown, _ = await self.engine.submit(Submission([job], priority=priority))
        ref = shown["metadata"]["id"]
        self.expected[ref] = {"Succeeded" if is_good else "Failed"}
        chance = self.dice.random()
        if chance < 0.05:
            self.expected[ref].add("Cancelled")
            self._later(self._cancel(ref))
        elif chance < 0.10:
            self._later(self._suspend(ref))

    def _later(self, happen: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(happen)
        self.changed_minds.add(task)
        task.add_done_callback(self.changed_minds.discard)

    async def _cancel(self, ref: str) -> None:
        await asyncio.sleep(self.dice.uniform(0, MEAN_S))
        with suppress(ConflictError):  # it is over
            await self.engine.cancel(ref)

    async def _suspend(self, ref: str) -> None:
        await asyncio.sleep(self.dice.uniform(0, MEAN_S))
        with suppress(ConflictError):
            await self.engine.suspend(ref)
            await asyncio.sleep(self.dice.uniform(0, MEAN_S))
            await self.engine.resume(ref)


DAYS = Size(jobs=150, nodes=60, days=1, node_failures=40, engines=2)
WEEK = Size(jobs=10_000, nodes=1_000, days=7, node_failures=2_000, engines=7)


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder that no disk is behind, where there is one: a week is some 100,000 writes."""
    folder = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=folder if folder.is_dir() else None) as name:
        yield Path(name)


@pytest.mark.parametrize(
    "size", [DAYS, pytest.param(WEEK, marks=pytest.mark.stress)], ids=["day", "week"]
)
def test_every_job_ends_once_as_it_should(size: Size, memory: Path) -> None:
    loop, dice = VirtualLoop(), random.Random(21)  # noqa: S311 - to be repeated
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop()
        week = Week(size, loop, f"sqlite:///{memory}/trainway.db", dice)
        began = time.monotonic()
        jobs = runner.run(week.play())
        took = time.monotonic() - began

    assert week.backend.violations == []
    assert week.backend.failures > 0
    wrong = {
        job["metadata"]["name"]: job["status"]
        for job in jobs
        if job["status"]["phase"] not in week.expected[job["metadata"]["id"]]
    }
    assert wrong == {}
    assert len(jobs) == size.jobs
    assert all(job.submits >= 1 for job in week.backend.jobs.values())
    phases = Counter(job["status"]["phase"] for job in jobs)
    share = week.backend.busy_s / (size.nodes * loop.time())
    print(f"{loop.time() / DAY_S:.1f} days in {took:.0f} s, {share:.0%} busy, {phases}")  # noqa: T201
