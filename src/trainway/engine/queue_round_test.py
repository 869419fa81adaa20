import asyncio
from typing import Literal

import pytest

from trainway.engine.live import LiveJob
from trainway.engine.phases import Phase
from trainway.engine.queues.running_book import RunningBook
from trainway.engine.stored_job import write
from trainway.engine.testing import World, play
from trainway.queueing.snapshot import RunningGang

ALL = {"cpu": "4"}


class Pen(asyncio.Lock):
    """A pen that says when somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_wanted = asyncio.Event()

    async def acquire(self) -> Literal[True]:
        if self.locked():
            self.is_wanted.set()
        return await super().acquire()


def test_what_becomes_of_a_job_while_a_round_waits_for_its_pen_counts() -> None:
    async def scene(world: World) -> None:
        first = await world.begun(await world.submit("first", requests=ALL))
        second = world.engine._live[await world.submit("second", requests=ALL)]
        third = await world.submit("third", requests=ALL)
        assert second.record.phase == Phase.QUEUED

        second.pen = pen = Pen()
        async with pen:
            first.run()
            first.end()
            await pen.is_wanted.wait()  # the round that starts it
            change = second.ending(Phase.CANCELLED, "Cancelled", "its owner was faster")
            await write(second._ledger, [(second, change)])
        await world.begun(third)
        assert second.id not in world.backend.jobs
        assert (second.record.phase, second.record.devices) == (Phase.CANCELLED, "")

    play(scene)


def test_a_round_does_not_wait_for_the_pen_of_a_job_that_it_does_not_change() -> None:
    async def scene(world: World) -> None:
        await world.begun(await world.submit("first", requests=ALL))
        second = world.engine._live[await world.submit("second", requests=ALL)]
        async with second.pen:
            await world.begun(await world.submit("wants-nothing"))

    play(scene)


def test_a_round_looks_at_jobs_that_have_changed_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []
    made = RunningBook._gangs_of

    def gangs(book: RunningBook, live: LiveJob) -> list[RunningGang]:
        seen.append(live.id)
        return made(book, live)

    monkeypatch.setattr(RunningBook, "_gangs_of", gangs)

    async def scene(world: World) -> None:
        earlier = [await world.submit(f"job-{number}") for number in range(10)]
        for job_id in earlier:
            (await world.begun(job_id)).run()
            await world.until(job_id, "Running")
        await world.submit("next")
        seen.clear()
        last = await world.submit("last")
        assert not {*earlier} & {*seen}
        await world.engine.queues.apply({
            "apiVersion": "trainway.dev/v1",
            "kind": "Queue",
            "metadata": {"name": "default"},
            "spec": {"gracePeriodSeconds": 60},
        })  # fmt: skip
        await world.submit("one-more")
        assert {*earlier, last} <= {*seen}

    play(scene)
