"""Jobs that are submitted again: a request that is repeated with its key makes one job."""

import asyncio
import re

import pytest

from trainway.backends.testing import FakeBackend
from trainway.engine.testing import World, act
from trainway.errors import ConflictError
from trainway.json_types import Json


class Scheduling(FakeBackend):
    """A backend with a queue of its own, where a name is taken once."""

    schedules = True


def labelled(job: Json) -> Json:
    return {**job, "metadata": {**job["metadata"], "labels": {"changed": "yes"}}}


@pytest.mark.parametrize("kind", [FakeBackend, Scheduling])
def test_a_rerun_is_made_once_for_its_key(kind: type[FakeBackend]) -> None:
    async def scene(world: World) -> None:
        first = await world.submit()
        made = await asyncio.gather(*(world.engine.rerun(first, key="k") for _ in range(3)))
        again = await world.engine.rerun(first, key="k")
        assert {job["metadata"]["id"] for job in made} == {again["metadata"]["id"]}
        assert await world.engine.reading.counts() == (2, 2)
        other = await world.engine.rerun(first, key="other")
        assert other["metadata"]["id"] != again["metadata"]["id"]
        if kind is Scheduling:
            names = {job["metadata"]["name"] for job in (again, other)}
            assert len(names) == 2
            assert "demo" not in names

    asyncio.run(act(scene, World(kind())))


@pytest.mark.parametrize("name", ["demo", "demo-24567", "bcdfg"])
def test_a_name_does_not_grow_with_each_rerun(name: str) -> None:
    async def scene(world: World) -> None:
        job_id = await world.submit(name)
        for _ in range(3):
            again = await world.engine.rerun(job_id)
            job_id = again["metadata"]["id"]
            assert re.fullmatch(f"{name}-[a-z0-9]{{5}}", again["metadata"]["name"])

    asyncio.run(act(scene, World(Scheduling())))


def test_a_key_is_not_for_another_rerun() -> None:
    async def scene(world: World) -> None:
        first = await world.submit()
        await world.engine.rerun(first, key="k")
        with pytest.raises(ConflictError, match="already used for another request"):
            await world.engine.rerun(first, labelled, key="k")
        assert await world.engine.reading.counts() == (2, 2)

    asyncio.run(act(scene, World()))
