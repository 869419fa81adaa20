"""Jobs whose agents cannot be started, with a backend that the test plays."""

import asyncio
from typing import Any

from trainway.engine.agent_starts import StartPolicy
from trainway.engine.testing import Scene, World, act

AT_ONCE = StartPolicy(most=4, first_pause_s=0.001)
NEVER_AGAIN = StartPolicy(most=4, first_pause_s=3600, longest_pause_s=3600)


def play(scene: Scene, starts: StartPolicy = AT_ONCE) -> None:
    asyncio.run(act(scene, World(starts=starts)))


def is_waiting(job: dict[str, Any]) -> bool:
    return bool(job["status"]["reason"] == "AgentNotStarted")


def test_an_agent_that_could_not_be_started_is_started_again() -> None:
    async def scene(world: World) -> None:
        world.backend.unstartable = ["no memory", "it was killed by SIGKILL"]
        job = await world.begun(await world.submit())
        job.run()
        status = (await world.until("demo", "Running"))["status"]
        assert (status["reason"], status["message"], status["restarts"]) == ("", "", 0)
        job.end()
        await world.until("demo", "Succeeded")
        assert (await world.reasons("demo")).count("AgentNotStarted") == 2

    play(scene)


def test_a_job_tells_why_it_waits_and_for_how_long() -> None:
    async def scene(world: World) -> None:
        world.backend.unstartable = ["no memory"]
        await world.submit()
        status = (await world.until("demo", is_waiting))["status"]
        assert status["phase"] == "Starting"
        assert status["message"] == "no memory; trying again in 3600 s"

    play(scene, NEVER_AGAIN)


def test_an_agent_that_never_starts_ends_the_job_with_the_first_reason() -> None:
    async def scene(world: World) -> None:
        world.backend.unstartable = ["no memory", *["killed"] * 10]
        await world.submit()
        status = (await world.until("demo", "Failed"))["status"]
        assert status["reason"] == "AgentFailed"
        assert status["message"] == "no memory; it was tried 4 times, at last: killed"
        assert len(world.backend.unstartable) == 7

    play(scene)


def test_a_job_is_cancelled_while_it_waits_for_its_agent() -> None:
    async def scene(world: World) -> None:
        world.backend.unstartable = ["no memory"] * 10
        await world.submit()
        await world.until("demo", is_waiting)
        await world.engine.cancel("demo")
        status = (await world.until("demo", "Cancelled"))["status"]
        assert (status["reason"], world.backend.jobs) == ("Cancelled", {})

    play(scene, NEVER_AGAIN)


def test_an_agent_that_cannot_be_replaced_is_tried_again() -> None:
    async def scene(world: World) -> None:
        job = await world.begun(await world.submit())
        job.run()
        await world.until("demo", "Running")
        world.backend.unstartable = ["no memory"] * 2
        job.lose_agent()
        await world.until("demo", lambda job: bool(job["status"]["phase"] == "Restarting"))
        async with asyncio.timeout(60):
            while not job.recoveries:
                await asyncio.sleep(0.001)
        job.run()
        status = (await world.until("demo", "Running"))["status"]
        assert (status["reason"], status["message"]) == ("", "")

    play(scene)
