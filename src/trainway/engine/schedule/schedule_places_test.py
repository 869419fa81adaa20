"""Schedules whose jobs may run in several places."""

import asyncio

from trainway.engine.moving.testing import HERE, THERE, MovingWorld
from trainway.engine.schedule.schedules_test import DAY, THREE, at, finish, jobs_of, nightly
from trainway.engine.submission import Submission
from trainway.engine.testing import act, jobset


def test_each_job_goes_to_the_place_that_takes_it_then() -> None:
    """One place is away when the first job is due, and the other one for the second."""

    async def scene(world: MovingWorld) -> None:
        other = {"backend": THERE, "objects": [jobset("train")], "environ": {"A": "c"}}
        wanted = Submission(
            [jobset("train")], backend=HERE, environ={"A": "b"}, candidates=[other], prefer="order"
        )
        made, _ = await world.engine.schedules.create(nightly(submission=wanted))
        assert made["spec"]["backend"] == f"{HERE},{THERE}"
        for day, away, place in ((0, world.here, world.there), (1, world.there, world.here)):
            away.problem = away.unreachable = "it is away"
            await at(world, THREE + day * DAY)
            job = (await jobs_of(world))[0]
            world.backend = place
            await finish(world, job)
            assert world.store.get(job["metadata"]["id"]).backend == place.name
            assert "Placed" in await world.reasons(job["metadata"]["id"])
            away.problem = away.unreachable = ""

    async def run() -> None:
        world = MovingWorld()
        await act(lambda _: scene(world), world)

    asyncio.run(run())
