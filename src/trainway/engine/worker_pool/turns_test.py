"""Pipelines, searches and job groups on a cloud: each job gets machines when its turn comes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from trainway.api.task.task_file import parse
from trainway.api.task.task_object import objects_of
from trainway.engine.run.pipeline_testing import pipeline, submitted
from trainway.engine.run.searches_test import wanted
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset
from trainway.engine.worker_pool.housing_test import CloudWorld
from trainway.errors import InvalidError, NotFoundError, UsageError
from trainway.json_types import Json

TASKS = """\
name: p
---
{name: one, num_nodes: 2, resources: {accelerators: 'H100:8'}, setup: pip install x, run: 'true'}
---
{name: two, resources: {accelerators: 'H100:8'}, run: 'true'}
"""
GROUP = """\
name: g
execution: parallel
---
{name: trainer, num_nodes: 2, resources: {accelerators: 'H100:8'}, setup: pip install x, run: a}
---
{name: replay, setup: pip install y, run: b}
"""


@pytest.fixture
def world(tmp_path: Path) -> CloudWorld:
    return CloudWorld(tmp_path)


async def at_machines(world: CloudWorld, job_id: str) -> str:
    """Wait until a job has begun on machines of its own; the backend of these."""
    while not (await world.place_of(job_id)).startswith("worker-pool/"):
        await asyncio.sleep(0.001)
    await world.set_up()
    place = await world.place_of(job_id)
    await world.until_cluster(lambda: job_id in world.found[place].jobs)
    return place


async def end(world: CloudWorld, job_id: str) -> None:
    """Let a job succeed, and its machines go."""
    place = await at_machines(world, job_id)
    for name in [name for name in world.found if name.startswith("cluster/")]:
        del world.found[name]  # those that set up the next worker are others
    job = world.found[place].jobs[job_id]
    job.run()
    job.end()
    await world.until(job_id, "Succeeded")


def cloud_pipeline(text: str = TASKS, **more: Any) -> Submission:
    return pipeline(text, backend="aws", workdir="/", **more)


def test_each_task_of_a_pipeline_rents_machines_and_gives_them_back(world: CloudWorld) -> None:
    async def scene() -> None:
        ids = await submitted(world, cloud_pipeline(use_spot=True, max_cost=50.0))
        assert await world.place_of(ids["two"]) == "aws", "in name only"
        first = await at_machines(world, ids["one"])
        (pool,) = world.engine.worker_pools.all()
        assert (pool["spec"]["nodes"], pool["spec"]["resources"]["use_spot"]) == (2, True)
        assert len(world.clouds.machines()) == 2
        job = world.found[first].jobs[ids["one"]]
        assert "pip install x" not in str(job.workload.jobset), "its worker has had its setup"
        told = "it waits for one"
        await world.until(ids["two"], lambda job: job["status"]["message"] == told)
        await end(world, ids["one"])
        second = await at_machines(world, ids["two"])
        assert second != first
        await world.until_cluster(lambda: len(world.clouds.machines()) == 1)
        await end(world, ids["two"])
        await world.until_cluster(lambda: not world.engine.worker_pools.all())
        assert world.clouds.machines() == []
        assert (await world.engine.runs.get("p"))["status"]["budget"]["limit"] == 50.0
        assert "Placed" in await world.reasons(ids["two"])

        again = (await world.engine.runs.replace_from("p", "two")).jobs[0]["metadata"]["id"]
        third = await at_machines(world, again)
        assert third not in (first, second)
        (pool,) = world.engine.worker_pools.all()
        assert pool["spec"]["resources"]["use_spot"], "as it was asked for"

    world.play(scene)


def test_a_pipeline_is_refused_if_one_of_its_tasks_cannot_have_machines(world: CloudWorld) -> None:
    async def scene() -> None:
        text = TASKS.replace("{name: two, resources: {accelerators: 'H100:8'}",
                             "{name: two, resources: {accelerators: 'H1000:8'}")  # fmt: skip
        with pytest.raises(NotFoundError, match="there is no accelerator H1000"):
            await submitted(world, cloud_pipeline(text))
        assert (await world.engine.reading.page(10)).items == []

    world.play(scene)


def test_the_next_server_goes_on_with_a_pipeline(world: CloudWorld, tmp_path: Path) -> None:
    ids: dict[str, str] = {}

    async def before() -> None:
        ids.update(await submitted(world, cloud_pipeline()))

    world.play(before)
    (tmp_path / "second").mkdir()
    second = CloudWorld(tmp_path / "second", world)

    async def after() -> None:
        await end(second, ids["one"])
        await at_machines(second, ids["two"])

    second.play(after)


def test_a_task_that_waits_for_its_turn_can_be_cancelled_and_deleted(world: CloudWorld) -> None:
    async def scene() -> None:
        ids = await submitted(world, cloud_pipeline())
        await world.engine.cancel(ids["two"])
        await world.until(ids["two"], "Cancelled")
        await world.engine.delete(ids["two"])
        await world.engine.runs.cancel("p")
        await world.until(ids["one"], "Cancelled")
        await world.until_cluster(lambda: not world.engine.worker_pools.all())
        await world.until_cluster(lambda: not world.clouds.machines())

    world.play(scene)


def gpu_task(run: str = "train --lr {lr}") -> list[Json]:
    file = parse(f"resources: {{accelerators: 'H100:8'}}\nrun: {run}").file
    assert file is not None
    return objects_of(file, "demo")


def test_what_begins_suspended_has_no_turn(world: CloudWorld) -> None:
    async def scene() -> None:
        job = jobset("demo", spec={"suspend": True})
        search = Submission([job], backend="aws", workdir="/", search=wanted(2, parallel=1))
        with pytest.raises(InvalidError, match="on rented machines cannot begin suspended"):
            await world.engine.runs.search(search)
        assert world.engine.worker_pools.all() == []

    world.play(scene)


def test_each_trial_of_a_search_has_machines_of_its_own(world: CloudWorld) -> None:
    async def scene() -> None:
        search = Submission(
            gpu_task(), backend="aws", workdir="/", key="k", search=wanted(2, parallel=1)
        )
        await world.engine.runs.search(search)
        for count in (1, 2):
            while len((run := await world.engine.runs.get("demo"))["jobs"]) < count:
                await asyncio.sleep(0.001)
            job_id = run["jobs"][-1]["metadata"]["id"]
            await at_machines(world, job_id)
            await world.until_cluster(lambda: len(world.clouds.machines()) == 1)
            metrics = [{"name": "loss", "value": "0.5"}]
            await world.engine.report_progress(job_id, {"metrics": metrics})
            await end(world, job_id)
        await world.until_cluster(lambda: not world.clouds.machines())

    world.play(scene)


def test_jobs_of_a_run_wait_for_their_turn_before_machines_are_rented(world: CloudWorld) -> None:
    async def scene() -> None:
        jobs, _ = await world.engine.submit_array(
            Submission(gpu_task("x"), backend="aws", workdir="/", num_jobs=3, parallel=1,
                       prefer="cost", candidates=[{"backend": "gcp", "objects": gpu_task("x")}])
        )  # fmt: skip
        ids = [job["metadata"]["id"] for job in jobs]
        place = await at_machines(world, ids[0])
        assert place.startswith("worker-pool/")
        assert len(world.engine.worker_pools.all()) == 1, "the others have none yet"
        await end(world, ids[0])
        await at_machines(world, ids[1])

    world.play(scene)


def group(text: str) -> Submission:
    file = parse(text).file
    assert file is not None
    return Submission(objects_of(file, "g"), backend="aws", workdir="/")


def test_a_job_group_has_a_machine_for_each_node_all_alike(world: CloudWorld) -> None:
    async def scene() -> None:
        job, _ = await world.engine.submit(group(GROUP))
        (pool,) = world.engine.worker_pools.all()
        assert pool["spec"]["nodes"] == 3
        assert pool["spec"]["resources"]["accelerators"] == "H100:8"
        job_id = str(job["metadata"]["id"])
        place = await at_machines(world, job_id)
        assert len(world.clouds.machines()) == 3
        made = str(world.found[place].jobs[job_id].workload.jobset)
        assert "pip install x" in made, "each task has a setup of its own"
        assert "pip install y" in made

    world.play(scene)


def test_a_job_group_with_machines_of_two_kinds_is_refused(world: CloudWorld) -> None:
    async def scene() -> None:
        text = GROUP.replace(
            "{name: replay,", "{name: replay, resources: {accelerators: 'A100:1'},"
        )
        told = "accelerators of trainer is H100, and of replay it is A100"
        with pytest.raises(UsageError, match=told):
            await world.engine.submit(group(text))

    world.play(scene)
