"""Jobs that wait get another number of nodes; those that a backend has do not."""

import asyncio

import pytest

from trainway.engine.errors import UnfittingJobError
from trainway.engine.submission import Submission
from trainway.engine.testing import World, jobset, play
from trainway.errors import ConflictError, UsageError
from trainway.json_types import Json

ONE = {"cpu": "1"}
ALL = {"cpu": "4"}


async def pods(world: World, ref: str) -> int:
    """How many pods it is compiled to."""
    (role,) = (await world.engine.reading.spec(ref)).jobset["spec"]["replicatedJobs"]
    count: int = role["template"]["spec"]["parallelism"]
    return count


async def blocked(world: World) -> str:
    """A job that waits for another one."""
    (await world.begun(await world.submit("first", requests=ALL))).run()
    return await world.submit("second", requests=ONE)


def test_a_job_that_waits_starts_with_the_nodes_it_was_given() -> None:
    async def scene(world: World) -> None:
        second = await blocked(world)
        assert (await world.engine.reading.get(second))["status"]["scalable"]
        ports = set(world.backend.ports)
        scaled = await world.engine.scaling.scale("second", 3)
        assert len(scaled["status"]["nodes"]) == 3
        assert len(world.backend.ports) == len(ports)
        assert scaled["metadata"]["id"] == second
        world.backend.jobs[(await world.engine.reading.get("first"))["metadata"]["id"]].end()
        begun = await world.begun(second)
        (role,) = begun.workload.jobset["spec"]["replicatedJobs"]
        assert role["template"]["spec"]["completions"] == 3
        assert str(begun.workload.demand.cpus) == "3"
        assert "Scaled" in await world.reasons(second)
        again = await world.engine.rerun(second)
        assert await pods(world, again["metadata"]["id"]) == 3

    play(scene)


def test_a_job_that_shrinks_may_start_at_once() -> None:
    async def scene(world: World) -> None:
        (await world.begun(await world.submit("first", requests=ONE))).run()
        second = await world.submit("second", pods=4, requests=ONE)
        assert (await world.engine.reading.get(second))["status"]["phase"] == "Queued"
        await world.engine.scaling.scale(second, 3)
        begun = await world.begun(second)
        assert str(begun.workload.demand.cpus) == "3"

    play(scene)


def test_a_job_that_was_suspended_before_it_started_is_scaled() -> None:
    async def scene(world: World) -> None:
        second = await blocked(world)
        await world.engine.suspend(second)
        shown = await world.engine.scaling.scale(second, 2)
        assert (shown["status"]["phase"], shown["status"]["scalable"]) == ("Paused", True)
        await world.engine.resume(second)
        assert await pods(world, second) == 2

    play(scene)


def test_what_a_backend_has_keeps_its_nodes() -> None:
    async def scene(world: World) -> None:
        first = await world.begun(await world.submit("first", requests=ONE))
        first.run()
        running = await world.until("first", "Running")
        assert not running["status"]["scalable"]
        with pytest.raises(ConflictError, match="local already has first") as refused:
            await world.engine.scaling.scale("first", 2)
        assert "trainway jobs rerun" in str(refused.value.hint)
        first.end()
        await world.until("first", "Succeeded")
        with pytest.raises(
            ConflictError, match=r"has already ended .succeeded. and cannot be scaled"
        ):
            await world.engine.scaling.scale("first", 2)

    play(scene)


def test_what_can_never_start_is_refused_and_the_job_stays() -> None:
    async def scene(world: World) -> None:
        second = await blocked(world)
        before = (await world.engine.reading.get(second), set(world.backend.ports))
        with pytest.raises(UnfittingJobError, match="second can never start"):
            await world.engine.scaling.scale(second, 5)
        assert (await world.engine.reading.get(second), set(world.backend.ports)) == before
        job, _ = await world.engine.submit(Submission([several()]))
        assert not job["status"]["scalable"]
        with pytest.raises(UsageError, match="no single number of nodes"):
            await world.engine.scaling.scale(job["metadata"]["id"], 2)

    play(scene)


def several() -> Json:
    """A JobSet of two roles."""
    made = jobset("several", requests=ONE)
    (role,) = made["spec"]["replicatedJobs"]
    made["spec"]["replicatedJobs"].append({**role, "name": "other"})
    return made


def test_scaling_and_starting_do_not_cross() -> None:
    async def scene(world: World) -> None:
        second = await blocked(world)
        first = world.backend.jobs[(await world.engine.reading.get("first"))["metadata"]["id"]]
        first.end()
        done = await asyncio.gather(
            world.engine.scaling.scale(second, 3), world.begun(second), return_exceptions=True
        )
        begun = world.backend.jobs[second]
        expected = 1 if isinstance(done[0], ConflictError) else 3
        assert str(begun.workload.demand.cpus) == str(expected)
        assert await pods(world, second) == expected

    play(scene)
