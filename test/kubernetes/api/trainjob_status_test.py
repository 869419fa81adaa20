"""The TrainJob controller on a real API server: suspending, ending, and what is told of it."""

from dataclasses import dataclass

import pytest
from trainjob_world import World, trainjob

from trainway.jobset.labels import HANG_TIMEOUT, TTL_SECONDS
from trainway.jobset.status import timestamp
from trainway.json_types import Json
from trainway.kube.errors import ObjectNotFound
from trainway.kube.resources import JOBSETS, TRAINJOBS
from trainway.operator.trainjobs.testing import Clock, Operator, eventually

COUNTS = {"ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0}
SUSPENDED = ("Suspended", "True", "Suspended")
RESUMED = ("Suspended", "False", "Resumed")
COMPLETE = ("Complete", "True", "AllJobsCompleted")
FAILED = ("Failed", "True", "FailedJobs")
KUEUE = "kueue.x-k8s.io/manager"


def ended(type_: str, reason: str, message: str) -> Json:
    condition = {"type": type_, "status": "True", "reason": reason, "message": message}
    return {"conditions": [{**condition, "lastTransitionTime": "2026-02-03T04:05:06Z"}]}


COMPLETED = ended("Completed", "AllJobsCompleted", "jobset completed successfully")
BROKEN = ended("Failed", "FailedJobs", "jobset failed due to one or more job failures")


def running(**counts: int) -> Json:
    return {"replicatedJobsStatus": [{"name": "node", **COUNTS, **counts}]}


def annotated(job: Json, **annotations: str) -> Json:
    job["metadata"]["annotations"] = {
        {"ttl": TTL_SECONDS, "hang": HANG_TIMEOUT}[name]: value
        for name, value in annotations.items()
    }
    return job


def test_a_job_runs_and_completes(world: World) -> None:
    async def story(operator: Operator) -> None:
        await operator.create(trainjob(world.runtime("torch-distributed")))
        await operator.jobset("t")
        await operator.report("t", running(active=1))
        listed = [{"name": "node", **COUNTS, "active": 1}]

        async def is_listed() -> bool:
            status = (await operator.trainjob("t")).get("status")
            return bool(status == {"jobsStatus": listed})

        await eventually(is_listed)
        await operator.report("t", {**running(succeeded=1), **COMPLETED})
        await operator.has_conditions("t", COMPLETE)
        condition = (await operator.trainjob("t"))["status"]["conditions"][0]
        assert condition == {
            "type": "Complete",
            "status": "True",
            "reason": "AllJobsCompleted",
            "message": "jobset completed successfully",
            "lastTransitionTime": "2026-02-03T04:05:06Z",
        }
        await operator.idle()
        await operator.told()
        assert await operator.reasons("t") == ["Completed"]
        page = operator.metrics.page().decode()
        assert 'trainway_jobs_finished_total{kind="TrainJob",phase="Complete"} 1.0' in page
        assert 'trainway_jobs{kind="TrainJob",phase="Complete"} 1.0' in page

    world.run(story)


def test_failed_is_final(world: World) -> None:
    async def story(operator: Operator) -> None:
        await operator.create(trainjob(world.runtime("torch-distributed")))
        await operator.jobset("t")
        await operator.report("t", BROKEN)
        await operator.has_conditions("t", FAILED)
        await operator.report("t", COMPLETED)
        await operator.client.delete(JOBSETS, "t", world.namespace)
        await operator.idle()
        assert await operator.conditions("t") == [FAILED]
        assert await operator.lookup(JOBSETS, "t") is None
        event = await operator.event("t", "FailedJobs")
        assert event["type"] == "Warning"
        assert event["message"] == "jobset failed due to one or more job failures"

    world.run(story)


def test_a_job_is_suspended_and_resumed_as_kueue_does(world: World) -> None:
    async def story(operator: Operator) -> None:
        runtime = world.runtime("torch-distributed")
        patches: list[Json] = [{"manager": KUEUE}]
        spec = {"suspend": True, "runtimePatches": patches}
        await operator.create(trainjob(runtime, spec=spec))
        jobset = await operator.jobset("t")
        assert jobset["spec"]["suspend"] is True
        await operator.has_conditions("t", SUSPENDED)
        admitted: Json = {
            "manager": KUEUE,
            "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [_placed("a100")]}}},
        }
        await operator.change("t", {"spec": {"runtimePatches": [admitted]}})
        await eventually(lambda: _selector_is(operator, "a100"))
        await operator.suspend("t", False)
        await operator.has_conditions("t", RESUMED)
        found = await operator.jobset("t")
        assert found["spec"]["suspend"] is False
        assert await _selector_is(operator, "a100")
        assert found["metadata"]["uid"] == jobset["metadata"]["uid"]
        await operator.suspend("t", True)
        await operator.has_conditions("t", SUSPENDED)
        await operator.change("t", {"spec": {"runtimePatches": [{"manager": KUEUE}]}})
        # JobSet would keep the selector in its Jobs, so another one comes in its place.
        await _let_go(operator)
        await eventually(lambda: _selector_is(operator, None))
        assert (await operator.jobset("t"))["metadata"]["uid"] != jobset["metadata"]["uid"]
        # placed and resumed in one update
        admitted["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"] = [_placed("h100")]
        await operator.change("t", {"spec": {"suspend": False, "runtimePatches": [admitted]}})
        await eventually(lambda: _selector_is(operator, "h100"))
        await operator.has_conditions("t", RESUMED)
        assert (await operator.jobset("t"))["spec"]["suspend"] is False
        await operator.told()
        reasons = await operator.reasons("t")
        assert reasons == ["Suspended", "Resumed"]
        assert [event["count"] for event in await operator.events("t")] == [2, 2]

    world.run(story)


async def _let_go(operator: Operator) -> None:
    """Wait until the JobSet is being deleted, and do what the garbage collector would."""

    async def goes() -> bool:
        found = await operator.lookup(JOBSETS, "t") or {"metadata": {}}
        return bool(found["metadata"].get("finalizers") == ["foregroundDeletion"])

    await eventually(goes)
    nothing = {"metadata": {"finalizers": None}}
    await operator.client.patch(JOBSETS, "t", operator.namespace, nothing)


def _placed(gpu: str) -> Json:
    pod = {"spec": {"nodeSelector": {"gpu": gpu}}}
    return {"name": "node", "template": {"spec": {"template": pod}}}


async def _selector_is(operator: Operator, gpu: str | None) -> bool:
    jobset = await operator.jobset("t")
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    selector = pod["spec"].get("nodeSelector")
    return bool(selector == ({"gpu": gpu} if gpu else None))


def test_d14_an_unsupported_runtime_fails_the_job(world: World) -> None:
    async def story(operator: Operator) -> None:
        job = trainjob("any")
        job["spec"]["runtimeRef"] |= {"kind": "Kernel", "apiGroup": "example.com"}
        await operator.create(job)
        await operator.has_conditions("t", ("Failed", "True", "TrainingRuntimeNotSupported"))
        condition = (await operator.trainjob("t"))["status"]["conditions"][0]
        assert condition["message"] == "unsupported runtime: Kernel.example.com"
        await operator.event("t", "TrainingRuntimeNotSupported")
        assert (await operator.children())["ConfigMap"] == []

    world.run(story)


def test_a_finished_job_is_deleted_after_its_time(world: World) -> None:
    clock = Clock()

    async def story(operator: Operator) -> None:
        job = annotated(trainjob(world.runtime("torch-distributed")), ttl="300")
        await operator.create(job)
        await operator.jobset("t")
        end = ended("Completed", "AllJobsCompleted", "done")
        end["conditions"][0]["lastTransitionTime"] = timestamp(clock())
        await operator.report("t", end)
        await operator.has_conditions("t", COMPLETE)
        await operator.idle()
        clock.advance(200)  # and what passes meanwhile
        operator.look("t")
        await operator.idle()
        assert await operator.conditions("t") == [COMPLETE]
        clock.advance(101)
        operator.look("t")

        async def is_deleted() -> bool:
            try:
                await operator.trainjob("t")
            except ObjectNotFound:
                return True
            return False

        await eventually(is_deleted)

    world.run(story, clock=clock)


@dataclass(frozen=True)
class BadSetting:
    name: str
    annotations: dict[str, str]
    message: str


BAD_SETTINGS = [
    BadSetting(
        "ttl", {"ttl": "soon"}, f"annotation {TTL_SECONDS} is not used: 'soon' is not a number"
    ),
    BadSetting("hang", {"hang": "0"}, f"annotation {HANG_TIMEOUT} is not used: '0' is not"),
]


@pytest.mark.parametrize("case", BAD_SETTINGS, ids=lambda case: case.name)
def test_a_bad_setting_is_told_once_and_not_used(world: World, case: BadSetting) -> None:
    async def story(operator: Operator) -> None:
        job = trainjob(world.runtime("torch-distributed"))
        await operator.create(annotated(job, **case.annotations))
        await operator.jobset("t")
        await operator.report("t", COMPLETED)
        await operator.has_conditions("t", COMPLETE)
        await operator.idle()
        await operator.told()
        event = await operator.event("t", "InvalidAnnotation")
        assert event["message"].startswith(case.message)
        assert (event["type"], event["count"]) == ("Warning", 1)
        assert await operator.conditions("t") == [COMPLETE]

    world.run(story)


def test_a_job_that_stops_reporting_progress_is_told_of_once(world: World) -> None:
    clock = Clock()

    async def progress(operator: Operator, percentage: int) -> str:
        time = timestamp(clock())
        status = {
            "progressPercentage": percentage,
            "lastUpdatedTime": time,
            "metrics": [{"name": "loss", "value": "0.5"}],
        }
        body = {"status": {"trainerStatus": status}}
        await operator.client.patch(TRAINJOBS, "t", world.namespace, body, subresource="status")
        return time

    async def hangs(operator: Operator) -> list[Json]:
        await operator.told()
        events = await operator.events("t")
        return [event for event in events if event["reason"] == "TrainingHang"]

    async def story(operator: Operator) -> None:
        job = annotated(trainjob(world.runtime("torch-distributed")), hang="60")
        await operator.create(job)
        await operator.jobset("t")
        clock.advance(1000)
        operator.look("t")
        await operator.idle()
        assert await hangs(operator) == []  # it never reported
        first = await progress(operator, 40)
        clock.advance(30)  # and what passes meanwhile
        operator.look("t")
        await operator.idle()
        assert await hangs(operator) == []
        clock.advance(31)
        operator.look("t")
        event = await operator.event("t", "TrainingHang")
        assert event["type"] == "Warning"
        assert f"last progress 40 %, loss=0.5 at {first}" in event["message"]
        operator.look("t")
        await operator.idle()
        await operator.kill()
        async with world.operator(clock) as second:
            await second.idle()
            assert len(await hangs(second)) == 1
            await progress(second, 41)
            clock.advance(61)
            second.look("t")

            async def is_told_again() -> bool:
                return len(await hangs(second)) == 2

            await eventually(is_told_again)

    world.run(story, clock=clock)


def test_a_status_that_changed_meanwhile_is_not_overwritten(world: World) -> None:
    async def story(operator: Operator) -> None:
        await operator.create(trainjob(world.runtime("torch-distributed")))
        await operator.jobset("t")
        for percentage in range(20):
            progress = {"progressPercentage": percentage, "lastUpdatedTime": "2026-01-01T00:00:00Z"}
            body = {"status": {"trainerStatus": progress}}
            await operator.report("t", running(active=percentage % 2))
            await operator.client.patch(TRAINJOBS, "t", world.namespace, body, subresource="status")
        await operator.report("t", {**running(succeeded=1), **COMPLETED})
        await operator.has_conditions("t", COMPLETE)
        status = (await operator.trainjob("t"))["status"]
        assert status["trainerStatus"]["progressPercentage"] == 19
        assert status["jobsStatus"] == [{"name": "node", **COUNTS, "succeeded": 1}]

    world.run(story)
