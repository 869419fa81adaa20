"""Searches: trials come one after the other, and no killed server loses or doubles one."""

import asyncio
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from trainway.backends.testing import FakeBackend, FakeJob
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, jobset, memory_store, play
from trainway.errors import ConflictError, InvalidError
from trainway.json_types import Json
from trainway.queueing.queue_policy import QueueState

PARAMETERS = [
    {"name": "lr", "searchSpace": {"logUniform": {"min": "1e-5", "max": "1e-1"}}},
    {"name": "bs", "searchSpace": {"categorical": {"choices": ["8", "16"]}}},
]


def wanted(trials: int, parallel: int = 2, **annotations: str) -> Json:
    spec = {
        "objectives": [{"metric": "loss"}],
        "parameters": PARAMETERS,
        "searchAlgorithm": {"random": {"seed": 7}},
        "numTrials": trials,
        "parallelTrials": parallel,
    }
    return {
        "spec": spec,
        "annotations": {f"trainway.dev/{name}": text for name, text in annotations.items()},
    }


def search(trials: int, parallel: int = 2, **annotations: str) -> Submission:
    objects = [jobset(command="train --lr {lr}")]
    return Submission(objects, search=wanted(trials, parallel, **annotations), key="k")


async def until(world: World, holds: Callable[[Json], bool]) -> Json:
    """Look at the run until something holds."""
    async with asyncio.timeout(60):
        while True:
            run = await world.engine.runs.get("demo")
            if holds(run):
                return run
            await asyncio.sleep(0.001)


def is_over(run: Json) -> bool:
    return run["status"]["search"] is not None


async def report(world: World, id_: str, loss: float, step: int) -> None:
    metrics = [{"name": "loss", "value": str(loss)}, {"name": "step", "value": str(step)}]
    await world.engine.report_progress(id_, {"metrics": metrics})


async def begun(world: World, count: int) -> list[FakeJob]:
    async with asyncio.timeout(60):
        while len(world.backend.jobs) < count:
            await asyncio.sleep(0.001)
    return list(world.backend.jobs.values())


def active(run: Json) -> list[Json]:
    over = ("Succeeded", "Failed", "Cancelled")
    return [job for job in run["jobs"] if job["status"]["phase"] not in over]


async def finish(world: World, job: Json, loss: float, step: int = 1) -> None:
    """Let a trial succeed with that loss."""
    id_ = job["metadata"]["id"]
    playing = await world.begun(id_)
    playing.run()
    await world.until(id_, "Running")
    await report(world, id_, loss, step)
    playing.end()
    await world.until(id_, "Succeeded")


def test_a_search_ends_with_its_best_trial() -> None:
    async def scene(world: World) -> None:
        first, _ = await world.engine.runs.search(search(5))
        assert [job["metadata"]["name"] for job in first] == ["demo-0", "demo-1"]
        seen: dict[str, Json] = {}
        while len(seen) < 5:
            run = await until(world, lambda run: bool(active(run)))
            assert run["status"]["phase"] == "Running"
            assert len(active(run)) <= 2
            job = active(run)[0]
            seen[job["metadata"]["name"]] = job
            await finish(world, job, 1.0 - 0.1 * len(seen))
        run = await until(world, is_over)
        assert run["status"]["phase"] == "Succeeded"
        assert run["status"]["search"] == {
            "type": "Complete",
            "reason": "MaxTrialsReached",
            "message": "5 trials: 5 succeeded; demo-4 is the best, with loss 0.5",
        }
        found = run["search"]["best"]
        assert found["name"] == "demo-4"
        assert found["parameters"] == run["jobs"][4]["spec"]["parameters"]
        assert world.engine.runs.searches.is_idle
        env = world.backend.jobs[run["jobs"][4]["metadata"]["id"]].workload.jobset["spec"]
        assert "KUBEFLOW_TRAINER_OPT_LR" in str(env)
        again, _ = await world.engine.runs.search(search(5))
        assert [job["metadata"]["id"] for job in again] == [
            job["metadata"]["id"] for job in run["jobs"][:2]
        ]

    play(scene)


def test_trials_that_fail_count_and_when_all_do_the_search_has_failed() -> None:
    async def scene(world: World) -> None:
        await world.engine.runs.search(search(2, 1))
        for count in (1, 2):
            (await begun(world, count))[-1].end(succeeded=False)
        run = await until(world, is_over)
        assert run["status"]["phase"] == "Failed"
        assert run["status"]["search"]["reason"] == "AllTrialsFailed"
        more = await world.engine.runs.proceed("demo", 1)
        assert more["status"]["phase"] == "Running"
        await begun(world, 3)
        job = active(await until(world, lambda run: bool(active(run))))[0]
        assert job["metadata"]["name"] == "demo-2"
        await finish(world, job, 0.5)
        run = await until(world, is_over)
        said = "3 trials: 1 succeeded, 2 failed; demo-2 is the best, with loss 0.5"
        assert run["status"]["search"]["message"] == said

    play(scene)


def test_a_bad_trial_is_stopped_early_and_says_so() -> None:
    async def scene(world: World) -> None:
        await world.engine.runs.search(search(5, 1, pruning="median"))
        for count in range(1, 5):
            await begun(world, count)
            run = await until(world, lambda run: bool(active(run)))
            id_ = active(run)[0]["metadata"]["id"]
            for step in (1, 2, 3):
                await report(world, id_, 0.5, step)
            await finish(world, active(run)[0], 0.4, 4)
        playing = (await begun(world, 5))[-1]
        playing.run()
        id_ = next(id_ for id_, job in world.backend.jobs.items() if job is playing)
        await world.until(id_, "Running")
        await report(world, id_, 0.9, 2)
        await world.until(id_, "Stopping")
        playing.end(succeeded=False, reason="Cancelled")
        job = await world.until(id_, "Cancelled")
        assert job["status"]["reason"] == "Pruned"
        assert job["status"]["message"].startswith("loss was 0.9 at best until step 2")
        assert "Pruned" in await world.reasons(id_)
        run = await until(world, is_over)
        assert "4 succeeded, 1 pruned" in run["status"]["search"]["message"]

    play(scene)


def test_a_search_that_is_cancelled_creates_no_more_trials() -> None:
    async def scene(world: World) -> None:
        await world.engine.runs.search(search(9))
        jobs = await begun(world, 2)
        run = await world.engine.runs.cancel("demo")
        assert run["status"]["phase"] == "Cancelled"
        for job in jobs:
            job.end(succeeded=False, reason="Cancelled")
        await until(world, lambda run: not active(run))
        assert len(world.backend.jobs) == 2
        with pytest.raises(ConflictError, match="all jobs of the run demo have already ended"):
            await world.engine.runs.cancel("demo")

    play(scene)


def test_what_cannot_be_searched_is_refused_with_its_field() -> None:
    async def scene(world: World) -> None:
        wrong = search(1, 2)
        with pytest.raises(InvalidError, match="spec: Invalid value: parallelTrials cannot exceed"):
            await world.engine.runs.search(wrong)
        with pytest.raises(InvalidError, match="spec: Required value"):
            await world.engine.runs.search(Submission([jobset()], search={}))

    play(scene)


def test_killed_servers_lose_and_double_no_trial() -> None:
    """Each server lives for a few steps of the event loop, whatever it is doing."""
    store, backend, source = memory_store(), FakeBackend(), random.Random(5)  # noqa: S311 - to be repeated
    trials, parallel = 14, 3
    kills = 0

    async def life() -> bool:
        world = World(backend, store)
        world.now += timedelta(seconds=kills)  # ids go with the time
        await world.engine.start()
        await world.engine.runs.search(search(trials, parallel))
        alive = asyncio.create_task(asyncio.sleep(source.uniform(0.0, 0.01)))
        while not alive.done():
            run = await world.engine.runs.get("demo")
            assert len(active(run)) <= parallel
            names = [job["metadata"]["name"] for job in run["jobs"]]
            assert names == [f"demo-{index}" for index in range(len(names))]
            for job in list(backend.jobs.values()):
                has_ended = any(record["type"] == "end" for record in job.records)
                if not has_ended and source.random() < 0.1:
                    job.end(succeeded=source.random() < 0.8)
            await asyncio.sleep(0)
        await kill(world)
        return is_over(run)

    async def all_lives() -> None:
        nonlocal kills
        async with asyncio.timeout(120):
            while not await life():
                kills += 1
        await act(check, World(backend, store))

    async def check(world: World) -> None:
        run = await until(world, is_over)
        assert [job["metadata"]["name"] for job in run["jobs"]] == [
            f"demo-{index}" for index in range(trials)
        ]
        assert len({str(job["spec"]["parameters"]) for job in run["jobs"]}) == trials
        assert len(backend.jobs) == trials

    asyncio.run(all_lives())
    assert kills >= 5


async def kill(world: World) -> None:
    """As if the process had ended: nothing is written any more, and the store stays."""
    engine: Any = world.engine
    await engine.runs.searches.close()
    await engine._rounds.close()
    await engine._admission.close()
    for live in list(engine._live.values()):
        await live.detach()


def test_a_search_says_what_it_waits_for() -> None:
    async def scene(world: World) -> None:
        await world.engine.runs.search(search(2, 1))
        run = await until(world, lambda run: bool(active(run)))
        assert run["status"]["waiting"] is None
        world.backend.unreachable = "the hosts do not answer"
        await finish(world, active(run)[0], 0.5)
        run = await until(world, lambda run: bool(run["status"]["waiting"]))
        assert run["status"]["waiting"] == "the hosts do not answer"
        assert (await world.engine.runs.page(1)).items[0]["status"]["waiting"] is not None
        world.backend.unreachable = ""
        await finish(world, active(await until(world, lambda run: bool(active(run))))[0], 0.4)
        run = await until(world, is_over)
        assert run["status"]["waiting"] is None

    play(scene)


def test_a_search_waits_while_its_queue_is_drained_and_its_trials_go_on() -> None:
    async def scene(world: World) -> None:
        await world.engine.runs.search(search(3))
        await begun(world, 2)
        await world.engine.queues.set_state("default", QueueState.DRAINING)
        first, second = active(await until(world, lambda run: len(active(run)) == 2))
        await finish(world, first, 0.5)
        run = await until(world, lambda run: bool(run["status"]["waiting"]))
        assert run["status"]["waiting"].startswith("Queue default is being drained")
        assert [job["metadata"]["name"] for job in active(run)] == [second["metadata"]["name"]]
        assert active(run)[0]["status"]["phase"] == "Starting"
        await world.engine.queues.set_state("default", QueueState.OPEN)
        await begun(world, 3)

    play(scene)
