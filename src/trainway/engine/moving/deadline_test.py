"""Deadlines, with the real engine on a clock that jumps: a cheap place is lost, and one is sure."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.base import BackendSettings, Handle
from trainway.backends.registry import Registry
from trainway.backends.testing import FakeJob
from trainway.engine.jobs import Engine
from trainway.engine.moving.move import Candidate
from trainway.engine.moving.testing import FakePlace, Places
from trainway.engine.simulation_testing import SimulatedJob, VirtualLoop
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset, memory_store
from trainway.engine.times import time_text
from trainway.errors import UsageError
from trainway.jobset.status import moment
from trainway.json_types import Json

SURE, CHEAP = "local", "ssh/spot"
MINUTE_S, HOUR_S = 60.0, 3600.0


class WorkingPlace(FakePlace):
    """A place where a job computes; a cheap one loses it after a while, and comes back later."""

    def __init__(self, name: str, places: Places, loop: VirtualLoop, site: "Site") -> None:
        super().__init__(name, places)
        self._loop, self._site = loop, site
        self.worked_s = 0.0
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def submit(self, request: Any) -> None:
        """Begin, unless the job comes from elsewhere, and is resumed then."""
        job_id = request.workload.id
        job = self.jobs.setdefault(job_id, SimulatedJob(request.workload, clock=self._loop.clock))
        await super().submit(request)
        if job.submits > 1:
            return
        is_new = not job.records
        job.write("agent", event="started")
        if is_new:
            self._begin(job)

    async def suspend(self, handle: Handle) -> None:
        """Stop at once."""
        job = self.jobs[handle["id"]]
        self._tasks[handle["id"]].cancel()
        pod: Json = {"pod": "node-0-0", "attempt": self._site.restarts}
        job.write("pod", **pod, phase="Failed", deleted=True, containers=[])
        job.suspend()

    async def resume(self, handle: Handle) -> None:
        """Go on."""
        job = self.jobs[handle["id"]]
        job.suspend("False")
        self._begin(job)

    def _begin(self, job: FakeJob) -> None:
        self._tasks[job.workload.id] = self._loop.create_task(self._work(job))

    async def _work(self, job: FakeJob) -> None:
        site = self._site
        while True:
            started = time_text(self._loop.clock())
            container = {"name": "main", "restarts": 0, "startedAt": started}
            pod: Json = {"pod": "node-0-0", "attempt": site.restarts}
            job.write("pod", **pod, phase="Running", containers=[container])
            left = site.work_s - site.done_s
            span = left if self.name == SURE else min(left, site.lives_s)
            began = self._loop.time()
            try:
                await asyncio.sleep(span)
            finally:
                site.done_s += self._loop.time() - began
                self.worked_s += self._loop.time() - began
            if site.done_s >= site.work_s - 1:
                job.end()
                return
            job.write("pod", **pod, phase="Failed", reason="HostLost", containers=[])
            site.restarts += 1
            job.write("status", jobset={"restarts": site.restarts})
            await asyncio.sleep(site.away_s)


@dataclass
class Site:
    """What the job and its cheap place do."""

    work_s: float
    lives_s: float
    away_s: float
    done_s: float = 0.0
    restarts: int = 0


@dataclass(frozen=True)
class Case:
    name: str
    lives_s: float
    away_s: float
    is_cheap_used: Callable[[float], bool]


CASES = [
    Case("never-lost", 100 * HOUR_S, 0, lambda share: share == 1),
    Case("lost-again-and-again", 4 * MINUTE_S, 10 * MINUTE_S, lambda share: 0 < share < 0.9),
    Case("lost-twice", 40 * MINUTE_S, 100 * HOUR_S, lambda share: 0.7 < share < 0.9),
    Case("hardly-ever-there", 1.0, 2 * HOUR_S, lambda share: share < 0.1),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_deadline_is_kept_however_often_the_cheap_place_is_lost(case: Case) -> None:
    loop = VirtualLoop()
    site = Site(100 * MINUTE_S, case.lives_s, case.away_s)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop()
        shown, cheap = runner.run(_played(loop, site))
    assert shown["status"]["phase"] == "Succeeded"
    took = moment(shown["status"]["completionTime"]) - moment(
        shown["metadata"]["creationTimestamp"]
    )
    assert took <= timedelta(minutes=160), took
    assert case.is_cheap_used(cheap.worked_s / site.work_s), cheap.worked_s / site.work_s
    told = shown["status"]["recovery"]["deadline"]
    assert (told["workSeconds"], told["slackSeconds"] >= 0) == (site.work_s, True)


async def _played(loop: VirtualLoop, site: Site) -> tuple[Json, WorkingPlace]:
    places, registry = Places(), Registry(BackendSettings(Path("/")))
    cheap, sure = (WorkingPlace(name, places, loop, site) for name in (CHEAP, SURE))
    for place in (cheap, sure):
        registry.put(place)
    engine = Engine(memory_store(), registry, clock=loop.clock)
    await engine.start()
    try:
        await engine.submit(wanted(loop, deadline_s=160 * MINUTE_S, work=site.work_s))
        async for shown in engine.reading.watch("demo"):
            if shown["status"]["completionTime"]:
                return shown, cheap
        raise AssertionError("it does not end")
    finally:
        await engine.close()


def wanted(loop: VirtualLoop, deadline_s: float, **more: Any) -> Submission:
    others = [asdict(Candidate(SURE, [jobset("demo")]))]
    at = time_text(loop.clock() + timedelta(seconds=deadline_s))
    given = {"backend": CHEAP, "candidates": others, "deadline": at, "sure": SURE}
    return Submission([jobset("demo")], **{**given, **more})


@dataclass(frozen=True)
class Wrong:
    words: str
    options: Json
    deadline_s: float = 8 * HOUR_S


WRONG = [
    Wrong("a deadline needs the work", {}),
    Wrong("needs one job and several places", {"work": 60, "candidates": ()}),
    Wrong("is not a time: soon", {"work": 60, "deadline": "soon"}),
    Wrong("the deadline is over", {"work": 60}, -1),
    Wrong("more than 68 years away", {"work": 60, "deadline": "9999-12-31T23:00:00-12:00"}),
    Wrong("the deadline is over", {"work": 60, "deadline": "0001-01-01T00:00:00+12:00"}),
    Wrong("cannot be kept: 28800 seconds of work and 120 for a start", {"work": 28800}),
    Wrong("is recovered", {"work": 60, "recovery_strategy": "none"}),
    Wrong("the sure place, ssh/other, does not take the job", {"work": 60, "sure": "ssh/other"}),
    Wrong("only for a deadline", {"work": 60, "deadline": None}),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.words)
def test_a_deadline_that_cannot_be_is_refused_in_words(wrong: Wrong) -> None:
    loop = VirtualLoop()

    async def run() -> None:
        site, registry = Site(1, 1, 1), Registry(BackendSettings(Path("/")))
        registry.put(WorkingPlace(CHEAP, Places(), loop, site))
        engine = Engine(memory_store(), registry, clock=loop.clock)
        await engine.start()
        try:
            await engine.submit(wanted(loop, wrong.deadline_s, **wrong.options))
        finally:
            await engine.close()

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop()
        with pytest.raises(UsageError, match=wrong.words):
            runner.run(run())
