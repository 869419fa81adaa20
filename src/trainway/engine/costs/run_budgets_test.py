"""What all jobs of a run may cost together: it warns once, and ends what runs and what waits."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine as Database

from trainway.backends.testing import FakeBackend
from trainway.engine.costs.budgets_test import Webhook, world
from trainway.engine.phases import Phase
from trainway.engine.run.pipeline_testing import pipeline, submitted
from trainway.engine.run.searches_test import is_over, search, until
from trainway.engine.submission import Submission
from trainway.engine.testing import NOW, World, act, jobset, memory_database, told
from trainway.errors import ConflictError

ENDED = "run demo has cost $10.00 of $10.00, which is all that it may"


def sweep(**more: Any) -> Submission:
    return Submission([jobset("demo")], environ={"A": "b"}, num_jobs=3, parallel=2, **more)


async def take(world: World, submission: Submission) -> list[str]:
    jobs, _ = await world.engine.submit_array(submission)
    return [str(job["metadata"]["id"]) for job in jobs]


async def run(world: World, ids: Sequence[str]) -> None:
    for job_id in ids:
        (await world.begun(job_id)).run()
        await world.until(job_id, "Running")


async def look(world: World, hours: float) -> None:
    world.now = NOW + timedelta(hours=hours)
    await world.engine.costs.budgets.look()


async def end(world: World, job_id: str) -> dict[str, Any]:
    job = world.backend.jobs[job_id]
    await told(job, "cancel")
    job.write("end", succeeded=False, reason="Cancelled", message="", time=world.now.isoformat())
    status: dict[str, Any] = (await world.until(job_id, "Failed"))["status"]
    return status


async def notified(world: World) -> None:
    async with asyncio.timeout(60):
        while not world.engine.notifier.is_idle:
            world.now += timedelta(seconds=1)
            await asyncio.sleep(0)


def test_a_sweep_ends_when_all_of_it_has_cost_what_it_may() -> None:
    webhook = Webhook()

    async def scene(world: World) -> None:
        ids = await take(world, sweep(max_cost=10.0))
        await run(world, ids[:2])
        await look(world, 3.9)
        assert (await world.engine.runs.get("demo"))["status"]["budget"]["warned"] is None
        await look(world, 4.1)
        await look(world, 4.5)
        shown = (await world.engine.runs.get("demo"))["status"]
        assert (shown["budget"]["limit"], bool(shown["budget"]["warned"])) == (10.0, True)
        assert (shown["usage"]["cost"], shown["usage"]["pricePerHour"]) == (9.0, 2.0)
        for job_id in ids:
            assert (await world.reasons(job_id)).count("BudgetWarning") == 1
        await look(world, 5)
        waited = (await world.until(ids[2], "Failed"))["status"]
        assert (waited["reason"], waited["cause"], waited["startTime"]) == (
            *("BudgetExceeded", "Budget"),
            None,
        )
        for job_id in ids[:2]:
            assert (await end(world, job_id))["message"] == ENDED
        assert waited["message"] == ENDED
        with pytest.raises(ConflictError, match=r"has cost all of the \$10.00 that it may"):
            await world.engine.runs.replace("demo", [Phase.FAILED])
        again = (await world.engine.runs.rerun("demo")).run
        assert again["status"]["budget"] == {"limit": 10.0, "warned": None, "ended": None}
        assert again["status"]["usage"].get("cost", 0.0) == 0.0
        await notified(world)

    asyncio.run(act(scene, world(webhook)))
    said = [text for event, text in webhook.got if event == "budget"]
    assert [text.partition(" of ")[0] for text in said] == [
        "run demo has cost $8.20",
        "run demo has cost $10.00",
    ]


def test_a_sweep_with_a_limit_for_each_ends_job_by_job() -> None:
    async def scene(world: World) -> None:
        ids = await take(world, sweep(max_cost=100.0, max_cost_each=5.0))
        await run(world, ids[:1])
        await look(world, 5)
        message = "it has cost $5.00 of $5.00, which is all that it may"
        assert (await end(world, ids[0]))["message"] == message
        assert (await world.engine.reading.get(ids[1]))["status"]["phase"] == "Starting"
        again = await world.engine.again(ids[1])
        assert again.max_cost == 5.0

    asyncio.run(act(scene, world(Webhook())))


def killed(database: Database, backend: FakeBackend, webhook: Webhook) -> World:
    return world(webhook, database, backend)


def test_what_a_run_had_cost_counts_for_the_next_server_too() -> None:
    webhook, backend, database = Webhook(), FakeBackend(), memory_database()
    ids: list[str] = []

    async def before(world: World) -> None:
        ids.extend(await take(world, sweep(max_cost=14.0)))
        await run(world, ids[:2])
        world.now = NOW + timedelta(hours=2)
        backend.jobs[ids[0]].write("end", succeeded=True, reason="Completed", message="",
                                   time=world.now.isoformat())  # fmt: skip
        await world.until(ids[0], "Succeeded")
        await world.engine.delete(ids[0])
        await run(world, ids[2:])
        await look(world, 6)

    async def after(world: World) -> None:
        await look(world, 6.5)
        assert (await world.reasons(ids[1])).count("BudgetWarning") == 1
        shown = (await world.engine.runs.get("demo"))["status"]
        assert shown["usage"]["cost"] == 13.0, "with the job that was deleted"
        await look(world, 7)
        for job_id in ids[1:]:
            assert (await end(world, job_id))["message"] == ENDED.replace("10.00", "14.00")

    async def both() -> None:
        await act(before, killed(database, backend, webhook))
        await act(after, killed(database, backend, webhook))

    asyncio.run(both())
    database.dispose()


def test_a_server_that_is_killed_while_a_run_ends_is_followed_by_one_that_ends_the_rest() -> None:
    webhook, backend, database = Webhook(), FakeBackend(), memory_database()
    ids: list[str] = []

    async def before(world: World) -> None:
        ids.extend(await take(world, sweep(max_cost=10.0)))
        await run(world, ids[:2])

        async def nothing(*_: object) -> None:
            """The server is killed before it ends one."""

        vars(world.engine.costs.budgets._runs)["_end"] = nothing
        await look(world, 5)
        assert (await world.engine.runs.get("demo"))["status"]["budget"]["ended"]

    async def after(world: World) -> None:
        await look(world, 5.1)
        assert (await world.until(ids[2], "Failed"))["status"]["cause"] == "Budget"
        for job_id in ids[:2]:
            assert (await end(world, job_id))["cause"] == "Budget"
        await notified(world)

    async def both() -> None:
        await act(before, killed(database, backend, webhook))
        await act(after, killed(database, backend, webhook))

    asyncio.run(both())
    database.dispose()
    assert len([text for event, text in webhook.got if event == "budget"]) == 1


def test_a_pipeline_and_what_waits_in_it_end_together() -> None:
    async def scene(world: World) -> None:
        ids = await submitted(world, pipeline(max_cost=5.0))
        await run(world, [ids["one"]])
        await look(world, 5)
        for name in ("two", "three"):
            status = (await world.until(ids[name], "Failed"))["status"]
            assert status["message"].startswith("run p has cost $5.00 of $5.00")
        await end(world, ids["one"])

    asyncio.run(act(scene, world(Webhook())))


def test_a_search_tries_no_more_when_all_is_spent() -> None:
    async def scene(world: World) -> None:
        wanted = search(9)
        limited = Submission(wanted.objects, search=wanted.search, key="k", max_cost=4.0)
        jobs, _ = await world.engine.runs.search(limited)
        await run(world, [job["metadata"]["id"] for job in jobs])
        await look(world, 2)
        for job in jobs:
            assert (await end(world, job["metadata"]["id"]))["cause"] == "Budget"
        found = await until(world, is_over)
        assert found["status"]["search"]["type"] == "Failed"
        assert "has cost all of the $4.00 that it may" in found["status"]["search"]["message"]
        assert len(found["jobs"]) == 2

    asyncio.run(act(scene, world(Webhook())))
