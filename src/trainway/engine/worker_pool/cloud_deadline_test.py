"""Deadlines with a cloud among several places, and of several jobs on a cloud."""

from datetime import timedelta
from pathlib import Path

import pytest

from trainway.engine.live import LiveJob
from trainway.engine.run.pipeline_testing import pipeline
from trainway.engine.submission import Submission
from trainway.engine.testing import told
from trainway.engine.times import time_text
from trainway.engine.worker_pool.housing_test import LAB, TYPED, CloudWorld, candidate
from trainway.engine.worker_pool.testing import GPU, trainjob
from trainway.errors import UsageError
from trainway.json_types import Json


@pytest.fixture
def world(tmp_path: Path) -> CloudWorld:
    return CloudWorld(tmp_path)


async def looked_at(world: CloudWorld, live: LiveJob) -> None:
    """Let a minute pass, and the deadline be looked at."""
    before = live.record.recovery
    world.now += timedelta(seconds=61)
    world.engine.moves.look(live)
    await world.until_cluster(lambda: live.record.recovery != before)


@pytest.mark.parametrize("first", [LAB, "aws"])
def test_a_deadline_whose_sure_place_is_a_cloud_stays_there(world: CloudWorld, first: str) -> None:
    other = "aws" if first == LAB else LAB
    at = time_text(world.now + timedelta(hours=2))
    terms: Json = {"deadline": at, "work": 6500.0, "sure": "aws"}

    async def scene() -> None:
        job_id = await world.take(first, candidates=[candidate(other)], **terms)
        live = world.engine._live[job_id]
        if first == LAB:
            await world.until_cluster(lambda: job_id in world.lab.jobs)
        world.now += timedelta(seconds=61)
        world.engine.moves.look(live)  # it is behind
        if first == LAB:
            await told(world.lab.jobs[job_id], "cancel")
            world.lab.jobs[job_id].end(succeeded=False, reason="Cancelled")
        await world.until_cluster(lambda: bool(world.engine.worker_pools.all()))
        await world.set_up()
        place = await world.place_of(job_id)
        await world.until_cluster(lambda: job_id in world.found[place].jobs)
        world.found[place].jobs[job_id].run()
        await world.until(job_id, "Running")
        for _ in range(3):
            await looked_at(world, live)
        assert await world.place_of(job_id) == place
        shown = (await world.engine.reading.get(job_id))["status"]
        assert shown["recovery"]["places"] == [LAB, "aws"]
        assert "move" not in shown

    world.play(scene)


def test_a_deadline_that_no_place_could_keep_is_refused(world: CloudWorld) -> None:
    async def scene() -> None:
        at = time_text(world.now + timedelta(hours=2))
        terms: Json = {"deadline": at, "work": 60.0}
        with pytest.raises(UsageError, match="cannot keep a deadline on aws alone"):
            await world.engine.submit_array(pipeline(backend="aws", workdir="/", **terms))
        jobs, _ = await world.engine.submit_array(
            Submission(
                [trainjob(2, {GPU: "8"}, annotations=TYPED)], backend="aws", workdir="/",
                num_jobs=2, use_spot=True, **terms,
            )
        )  # fmt: skip
        assert len(world.engine.worker_pools.all()) == 2, "spot machines, and on demand"
        for job in jobs:
            shown = await world.engine.reading.get(job["metadata"]["id"])
            assert len(shown["status"]["recovery"]["places"]) == 2
        await world.engine.rerun(jobs[0]["metadata"]["id"])
        assert len(world.engine.worker_pools.all()) == 4, "it has two pools of its own"

    world.play(scene)
