"""A pipeline whose database fails once, wherever that is: every task runs once, in its order."""

import asyncio

import pytest

from trainway.engine.faulty_store import Faults, faulty_store
from trainway.engine.run.pipeline_testing import pipeline, submitted
from trainway.engine.testing import World, act, memory_database
from trainway.errors import DatabaseError


async def submitted_at_last(world: World) -> dict[str, str]:
    """The ids of the jobs; a client repeats a request that has failed, with its key."""
    try:
        return await submitted(world, pipeline(key="k"))
    except DatabaseError:
        return await submitted(world, pipeline(key="k"))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(0, 14, 2))
def test_a_pipeline_comes_to_its_end(number: int, after: bool) -> None:
    faults = Faults(after=after)

    async def scene(world: World) -> None:
        faults.arm()
        faults.first = number
        ids = await submitted_at_last(world)
        for name in ("one", "two", "three"):
            begun = await world.begun(ids[name])
            assert (
                list(world.backend.jobs)
                == [ids[task] for task in ("one", "two", "three")][: len(world.backend.jobs)]
            )
            begun.end()
            await over(world, ids[name])
        faults.heal()
        assert len(faults.calls) > number
        run = await world.engine.runs.get("p")
        assert run["status"] == {"phase": "Succeeded", "phases": {"Succeeded": 3}}

    async def over(world: World, id_: str) -> None:
        async with asyncio.timeout(60):
            while id_ in world.engine._live:
                await asyncio.sleep(0.001)

    asyncio.run(act(scene, World(store=faulty_store(memory_database(), faults))))


@pytest.mark.parametrize("number", range(3))
def test_a_failure_ends_the_others_though_the_database_fails(number: int) -> None:
    faults = Faults()

    async def scene(world: World) -> None:
        ids = await submitted(world, pipeline())
        begun = await world.begun(ids["one"])
        begun.run()
        await world.until(ids["one"], "Running")
        faults.arm()
        faults.first = number
        begun.end(succeeded=False)
        async with asyncio.timeout(60):
            while world.engine._live:
                await asyncio.sleep(0.001)
        faults.heal()
        assert len(faults.calls) > number
        run = await world.engine.runs.get("p")
        assert run["status"]["phases"] == {"Failed": 1, "Cancelled": 2}
        assert list(world.backend.jobs) == [ids["one"]]

    asyncio.run(act(scene, World(store=faulty_store(memory_database(), faults))))
