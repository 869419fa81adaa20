"""Strategies of recovery that come from somewhere else than a submission of one job."""

from datetime import timedelta

import pytest

from trainway.engine.moving.failover import failover_of
from trainway.engine.moving.recovered_job_test import FAR, RecoveryWorld, lose, play
from trainway.engine.moving.testing import HERE, THERE
from trainway.engine.run.pipeline_testing import pipeline, submitted
from trainway.engine.submission import Submission
from trainway.engine.testing import jobset, told
from trainway.engine.times import time_text
from trainway.json_types import Json

PAIR = """\
name: p
---
{name: one, run: 'true', resources: {job_recovery: {strategy: EAGER_NEXT_REGION}}}
---
{name: two, run: 'true'}
"""


def amended(job: Json) -> Json:
    return {**job, "metadata": {**job["metadata"], "labels": {"changed": "yes"}}}


def test_a_job_that_is_submitted_again_keeps_its_strategy_and_its_places() -> None:
    async def scene(world: RecoveryWorld) -> None:
        first = await world.recovered("eager-next", HERE, THERE)
        again = await world.engine.rerun(first, amended)
        record = world.store.get(again["metadata"]["id"])
        found = failover_of(record)
        assert found is not None
        assert (record.backend, found.strategy) == (HERE, "eager-next")
        assert [place.backend for place in found.places] == [HERE, THERE]
        for place in found.places:
            assert place.objects[0]["metadata"]["labels"] == {"changed": "yes"}

    play(scene)


def test_a_job_that_is_submitted_again_gets_as_much_time_as_it_had() -> None:
    async def scene(world: RecoveryWorld) -> None:
        other = {"backend": THERE, "objects": [jobset("demo")]}
        at = time_text(world.now + timedelta(hours=8))
        wanted = Submission([jobset("demo")], candidates=[other], deadline=at, work=60, sure=THERE)
        first, _ = await world.engine.submit(wanted)
        world.now += timedelta(hours=9)
        again = await world.engine.rerun(first["metadata"]["id"])
        found = failover_of(world.store.get(again["metadata"]["id"]))
        assert found is not None
        assert found.promise is not None
        assert found.promise.at == time_text(world.now + timedelta(hours=8))
        assert (found.promise.work_s, found.places[-1].backend) == (60, THERE)

    play(scene)


@pytest.mark.parametrize(
    "several", [{"num_jobs": 2}, {"parameters": [{"lr": "1"}, {"lr": "2"}]}], ids=["array", "grid"]
)
def test_the_jobs_of_a_run_go_on_elsewhere_each_on_its_own(several: Json) -> None:
    async def scene(world: RecoveryWorld) -> None:
        other = {"backend": THERE, "objects": [jobset("demo")]}
        wanted = Submission(
            [jobset("demo")], candidates=[other], recovery_strategy="eager-next", **several
        )
        jobs, _ = await world.engine.submit_array(wanted)
        for rank, job in enumerate(jobs):
            record = world.store.get(job["metadata"]["id"])
            found = failover_of(record)
            assert found is not None
            here, there = found.places
            assert here.objects[0]["metadata"]["name"] == f"demo-{rank}" == record.name
            assert {**there.objects[0], "metadata": {}} == {**here.objects[0], "metadata": {}}
            assert there.objects[0]["metadata"]["name"] == record.name
        second = str(jobs[1]["metadata"]["id"])
        first = await world.begun_at(HERE, second)
        first.run()
        await world.until(second, "Running")
        lose(first)
        job = await world.until(second, lambda job: "move" in job["status"])
        assert job["status"]["move"]["to"] == THERE
        assert "move" not in (await world.engine.reading.get("demo-0"))["status"]

    play(scene)


def test_a_task_of_a_pipeline_goes_on_elsewhere_by_its_own_strategy() -> None:
    async def scene(world: RecoveryWorld) -> None:
        other = {"backend": THERE, "objects": list(pipeline(PAIR).objects)}
        ids = await submitted(world, pipeline(PAIR, candidates=[other]))
        found = failover_of(world.store.get(ids["one"]))
        assert found is not None
        assert found.strategy == "eager-next"
        assert failover_of(world.store.get(ids["two"])) is None
        first = await world.begun_at(HERE, ids["one"])
        first.run()
        await world.until(ids["one"], "Running")
        lose(first)
        await told(first, "suspend")
        job = await world.until(ids["one"], lambda job: "move" in job["status"])
        assert job["status"]["move"]["to"] == THERE

    play(scene)


def test_a_strategy_for_a_pipeline_is_one_for_each_task() -> None:
    async def scene(world: RecoveryWorld) -> None:
        other = {"backend": THERE, "objects": list(pipeline(PAIR).objects)}
        ids = await submitted(
            world, pipeline(PAIR, candidates=[other], recovery_strategy="failover")
        )
        for id_ in ids.values():
            found = failover_of(world.store.get(id_))
            assert found is not None
            assert found.strategy == "failover"

    play(scene)


def test_the_jobs_of_a_run_that_is_submitted_again_keep_strategy_places_and_time() -> None:
    async def scene(world: RecoveryWorld) -> None:
        other = {"backend": THERE, "objects": list(pipeline(PAIR).objects)}
        at = time_text(world.now + timedelta(hours=8))
        given: Json = {"candidates": [other], "deadline": at, "work": 60.0, "sure": THERE}
        await submitted(world, pipeline(PAIR, recovery_strategy="failover", **given))
        await world.engine.runs.cancel("p")
        world.now += timedelta(hours=9)
        in_place = await world.engine.runs.replace_from("p", "one")
        await world.engine.runs.cancel("p")
        anew = await world.engine.runs.rerun("p")
        for job in (*in_place.jobs, *anew.jobs):
            found = failover_of(world.store.get(job["metadata"]["id"]))
            assert found is not None
            assert found.strategy == "failover"
            assert [place.backend for place in found.places] == [HERE, THERE]
            assert found.promise is not None
            assert found.promise.at == time_text(world.now + timedelta(hours=8))

    play(scene)


READING = """\
name: p
---
{name: one, run: 'true'}
---
{name: two, run: 'true'}
---
{name: three, run: 'cat ${tasks.two.output}/x'}
"""


def test_the_deadline_of_a_pipeline_is_kept_by_its_tasks_together() -> None:
    async def scene(world: RecoveryWorld) -> None:
        other = {"backend": FAR, "objects": list(pipeline(READING).objects)}
        at = time_text(world.now + timedelta(hours=8))
        given: Json = {"candidates": [other], "deadline": at, "work": 3600.0, "sure": FAR}
        ids = await submitted(world, pipeline(READING, **given))
        two = failover_of(world.store.get(ids["two"]))
        assert two is not None
        assert two.promise is not None
        assert (two.promise.at, two.promise.stage) == (at, (1, 3))
        assert (two.promise.before_s, two.promise.own_s) == (1200, 1200)
        assert [each.backend for each in two.places] == [HERE, FAR]
        # What reads the output of another one stays, and so begins where it is not lost.
        three = world.store.get(ids["three"])
        assert (three.backend, three.recovery) == (FAR, None)

        world.now += timedelta(minutes=2)
        again = await world.engine.again(ids["two"])
        later = time_text(world.now + timedelta(hours=8))
        assert (again.deadline, again.stage, again.work) == (later, (1, 3), 3600)

    play(scene)
