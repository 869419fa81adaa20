"""Jobs that leave a place which loses their output, unless it is told before."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

from trainway.backends.base import Handle
from trainway.engine.moving.testing import HERE, THERE, FakePlace, MovingWorld, Places
from trainway.engine.testing import act, told
from trainway.errors import ConflictError

Scene = Callable[[MovingWorld], Awaitable[None]]


class Packing(FakePlace):
    """A place that loses the output of a job, unless it is told before."""

    problem_of_packing: str = ""

    async def pack(self, handle: Handle) -> None:
        """Note that it was asked."""
        self.jobs[handle["id"]].asked.append("pack")
        if self.problem_of_packing:
            raise ConflictError(self.problem_of_packing)


def test_a_place_that_loses_output_is_told_before_the_job_is_suspended() -> None:
    async def scene(world: MovingWorld) -> None:
        job = await world.running()
        await world.engine.suspend("demo")
        await told(job, "suspend")
        job.suspend()
        await world.until("demo", "Paused")
        await world.engine.resume("demo")
        await told(job, "resume")
        job.suspend("False")
        await world.until("demo", "Running")
        await world.engine.moves.move("demo", THERE)
        await told(job, "pack")
        await told(job, "suspend", 2)
        assert job.asked == ["suspend", "resume", "pack", "suspend"]

    play_packing(scene)


def test_a_job_whose_output_cannot_be_brought_stays() -> None:
    async def scene(world: MovingWorld) -> None:
        job = await world.running()
        cast("Packing", world.here).problem_of_packing = "its image has no python3"
        await world.engine.moves.move("demo", THERE)
        shown = await world.until("demo", lambda each: "move" not in each["status"])
        assert (shown["spec"]["backend"], shown["status"]["phase"]) == (HERE, "Running")
        assert job.asked == ["pack"]
        assert "MoveRefused" in await world.reasons("demo")

    play_packing(scene)


def play_packing(scene: Scene) -> None:
    async def run() -> None:
        before = MovingWorld()
        before.here = Packing(HERE, Places())
        before.here.schedules = True
        world = MovingWorld(before)
        await act(lambda _: scene(world), world)

    asyncio.run(run())
