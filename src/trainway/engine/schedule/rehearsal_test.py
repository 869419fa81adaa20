"""What is refused when a schedule is created, and not at three in the morning."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from trainway.backends.base import Isolation
from trainway.engine.errors import UnfittingJobError
from trainway.engine.moving.testing import HERE, THERE, MovingWorld
from trainway.engine.run.pipeline_testing import pipeline
from trainway.engine.run.searches_test import search
from trainway.engine.schedule.schedules_test import jobs_of, nightly, played
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, jobset
from trainway.engine.worker_pool.housing_test import TYPED, CloudWorld
from trainway.engine.worker_pool.testing import GPU, trainjob
from trainway.errors import InvalidError, TrainwayError, UnavailableError

SIZED = Submission([jobset("train", requests={"cpu": "{cpu}"})], environ={"A": "b"})
TASKS = "name: p\n---\n{name: one, run: 'true'}\n---\n{name: two, run: 'true', %s}\n"


@dataclass(frozen=True)
class Case:
    name: str
    submission: Submission
    said: str
    error: type[TrainwayError] = InvalidError


CASES = [
    Case(
        "a job without room",
        Submission([jobset("train", requests={"cpu": "99"})]),
        "train can never start: it needs",
        UnfittingJobError,
    ),
    Case(
        "the last of several without room",
        replace(SIZED, parameters=[{"cpu": "1"}, {"cpu": "99"}]),
        "train-1 can never start: it needs",
        UnfittingJobError,
    ),
    Case(
        "the last of several that is wrong",
        replace(SIZED, parameters=[{"cpu": "1"}, {"cpu": "lots"}]),
        "JobSet/train-1: spec.replicatedJobs",
    ),
    Case(
        "a later task without room",
        pipeline(TASKS % "resources: {cpus: 99}"),
        "can never start: it needs",
        UnfittingJobError,
    ),
    Case(
        "a file of a task in a container",
        pipeline(TASKS % "envs: {D: '${tasks.one.output}'}", isolation=Isolation.CONTAINER),
        "two: envs.D: ${tasks.one.output}: a task in a container does not see",
    ),
    Case("a search", search(1, 2), "spec: Invalid value: parallelTrials cannot exceed"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_could_never_be_submitted_is_refused(case: Case) -> None:
    async def scene(world: World) -> None:
        with pytest.raises(case.error) as caught:
            await world.engine.schedules.create(nightly(submission=case.submission))
        assert case.said in str(caught.value)
        assert world.engine.schedules.all() == []
        assert world.backend.ports == set()

    played(scene)


def test_what_can_be_submitted_leaves_nothing_behind() -> None:
    async def scene(world: World) -> None:
        submissions = [
            replace(SIZED, parameters=[{"cpu": "1"}, {"cpu": "2"}]),
            pipeline(TASKS % "envs: {D: '${tasks.one.output}'}"),
            search(9, 2),
        ]
        for rank, submission in enumerate(submissions):
            await world.engine.schedules.create(nightly(name=f"n{rank}", submission=submission))
        assert len(world.engine.schedules.all()) == 3
        assert await jobs_of(world) == []
        assert world.backend.ports == set()

    played(scene)


def test_jobs_for_a_cloud_are_all_looked_at_and_nothing_is_rented(tmp_path: Path) -> None:
    world = CloudWorld(tmp_path)
    job = trainjob(2, {GPU: "{gpus}"}, annotations=TYPED)
    wanted = Submission([job], backend="aws", workdir="/", environ={"A": "b"})

    async def scene() -> None:
        create = world.engine.schedules.create
        wrong = replace(wanted, parameters=[{"gpus": "8"}, {"gpus": "lots"}])
        with pytest.raises(InvalidError, match="lots"):
            await create(nightly(submission=wrong))
        right = replace(wanted, parameters=[{"gpus": "8"}, {"gpus": "4"}])
        await create(nightly(submission=right))
        assert len(world.engine.schedules.all()) == 1
        assert world.engine.worker_pools.all() == []
        assert await world.engine.clusters.all() == []
        assert await jobs_of(world) == []

    world.play(scene)


def test_a_name_that_its_suffix_makes_too_long_is_refused() -> None:
    async def scene(world: MovingWorld) -> None:
        name = "x" * 46  # with the rest of the name of a pod it is just short enough
        here = Submission([jobset(name)], backend=HERE, environ={"A": "b"})
        await world.engine.schedules.create(nightly(name="here", submission=here))
        there = replace(here, backend=THERE)
        with pytest.raises(InvalidError, match=r"spec\.replicatedJobs.* 63 characters") as caught:
            await world.engine.schedules.create(nightly(name="there", submission=there))
        hint = str(caught.value.hint)
        assert "each job of the schedule has a name of its own" in hint
        assert f"shorten {name}" in hint

    asyncio.run(act(lambda _: scene(world), world := MovingWorld()))


def test_one_place_that_takes_it_is_enough() -> None:
    async def scene(world: MovingWorld) -> None:
        other = {"backend": THERE, "objects": [jobset("train")], "environ": {"A": "c"}}
        wanted = Submission([jobset("train")], backend=HERE, environ={"A": "b"}, candidates=[other])
        world.here.unreachable = "it is away"
        await world.engine.schedules.create(nightly(submission=wanted))
        world.there.unreachable = "it is away too"
        with pytest.raises(UnavailableError, match="it is away too"):
            await world.engine.schedules.create(nightly(name="other", submission=wanted))

    asyncio.run(act(lambda _: scene(world), world := MovingWorld()))
