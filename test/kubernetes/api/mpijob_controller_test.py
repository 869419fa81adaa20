"""The life of MPIJobs on a real API server: what the controller makes of what it sees."""

import base64

import pytest
from mpijob_world import MULTIKUEUE, Run, conditions, has, is_owned, policy, suspended

from trainway.jobset.labels import TTL_SECONDS
from trainway.json_types import Json
from trainway.kube.resources import (
    CONFIG_MAPS,
    EVENTS,
    JOBS,
    JOBSETS,
    MPIJOBS,
    PODS,
    SECRETS,
)
from trainway.operator.mpijobs.testing import mpijob
from trainway.operator.mpijobs.testing_cluster import Stage


def test_a_new_job_gets_its_objects_and_a_status(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        job = await here.submit(mpijob())
        told = await here.until(MPIJOBS, "pi", has("Created"))
        assert conditions(told) == {("Created", "True", "MPIJobCreated")}
        assert told["status"]["replicaStatuses"] == {"Worker": {}}
        assert told["status"]["startTime"]
        children = [(SECRETS, "pi-ssh"), (CONFIG_MAPS, "pi-config"), (JOBSETS, "pi")]
        for resource, name in children:
            child = await here.until(resource, name)
            assert is_owned(child, job)
            managers = {entry["manager"] for entry in child["metadata"]["managedFields"]}
            assert managers == {"mpi-operator"}
        secret = await here.until(SECRETS, "pi-ssh")
        key = base64.b64decode(secret["data"]["ssh-privatekey"])
        assert key.startswith(b"-----BEGIN EC PRIVATE KEY-----")
        event = await here.event("MPIJobCreated")
        assert event["source"] == {"component": "mpi-job-controller"}
        assert event["type"] == "Normal"

    on_stage(play)


def test_a_job_runs_and_succeeds(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(run_policy={"cleanPodPolicy": "All"}))
        jobs = await here.play_jobs()
        await here.play_pod(jobs["launcher"], 0, "Running")
        await here.play_pod(jobs["worker"], 1, "Running")
        told = await here.until(
            MPIJOBS, "pi", lambda job: "active" in job["status"]["replicaStatuses"]["Worker"]
        )
        assert not has("Running")(told)
        await here.play_pod(jobs["worker"], 0, "Running")
        await here.until(MPIJOBS, "pi", has("Running"))
        await here.play_pod(jobs["worker"], 1, "Succeeded")
        await here.play_pod(jobs["launcher"], 0, "Succeeded")
        await here.play_end(jobs, "Complete")
        told = await here.until(MPIJOBS, "pi", has("Succeeded"))
        assert conditions(told) == {
            ("Created", "True", "MPIJobCreated"),
            ("Running", "False", "MPIJobRunning"),
            ("Succeeded", "True", "MPIJobSucceeded"),
        }
        assert told["status"]["replicaStatuses"] == {"Launcher": {"succeeded": 1}, "Worker": {}}
        launcher = await here.until(JOBS, "pi-launcher-0")
        assert told["status"]["completionTime"] == launcher["status"]["completionTime"]
        for reason in ("MPIJobCreated", "MPIJobRunning", "MPIJobSucceeded"):
            assert (await here.event(reason))["count"] == 1
        # Of the pods that ended by themselves All removes the worker's.
        await here.until_gone(PODS, "pi-worker-0-1-abcde")
        assert await here.get(PODS, "pi-launcher-0-0-abcde")
        page = here.context.metrics.page().decode()
        assert "mpi_operator_jobs_created_total 1.0" in page
        assert "mpi_operator_jobs_successful_total 1.0" in page
        assert 'mpi_operator_job_info{launcher="pi-launcher-0"' in page
        assert 'trainway_jobs{kind="MPIJob",phase="Succeeded"} 1.0' in page

    on_stage(play)


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_without_a_policy_pods_that_ended_stay(on_stage: Run, phase: str) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        jobs = await here.play_jobs()
        await here.play_pod(jobs["worker"], 1, phase)
        await here.play_end(jobs, "Complete")
        await here.until(MPIJOBS, "pi", has("Succeeded"))
        await here.settled()
        pod = await here.until(PODS, "pi-worker-0-1-abcde")
        assert "deletionTimestamp" not in pod["metadata"]

    on_stage(play)


@pytest.mark.parametrize(
    ("job_reason", "pod_status", "reason"),
    [
        ("DeadlineExceeded", {}, "DeadlineExceeded"),
        ("BackoffLimitExceeded", {}, "BackoffLimitExceeded"),
        ("BackoffLimitExceeded", {"reason": "OutOfcpu"}, "BackoffLimitExceeded/OutOfcpu"),
    ],
)
def test_a_failed_launcher_fails_the_job(
    on_stage: Run, job_reason: str, pod_status: Json, reason: str
) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        jobs = await here.play_jobs()
        await here.play_running(jobs)
        await here.until(MPIJOBS, "pi", has("Running"))
        await here.play_pod(jobs["launcher"], 0, "Failed", **pod_status)
        await here.until(
            MPIJOBS, "pi", lambda job: job["status"]["replicaStatuses"]["Launcher"] == {}
        )
        await here.play_end(jobs, "Failed", reason=job_reason, message="given up")
        told = await here.until(MPIJOBS, "pi", has("Failed"))
        assert ("Failed", "True", reason) in conditions(told)
        assert ("Running", "False", "MPIJobRunning") in conditions(told)
        assert told["status"]["replicaStatuses"] == {"Launcher": {"failed": 1}, "Worker": {}}
        assert told["status"]["completionTime"]
        assert (await here.event(reason))["type"] == "Warning"
        page = here.context.metrics.page().decode()
        assert "mpi_operator_jobs_failed_total 1.0" in page
        assert "trainway_job_restarts_total{" not in page  # nothing came after it

    on_stage(play)


def test_a_launcher_that_is_tried_again_counts_as_restart(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        jobs = await here.play_jobs()
        await here.play_running(jobs)
        await here.until(MPIJOBS, "pi", has("Running"))
        launcher, body = jobs["launcher"]["metadata"]["name"], {"status": {"failed": 2}}
        await here.client.patch(JOBS, launcher, here.namespace, body, subresource="status")
        await here.until(
            MPIJOBS, "pi", lambda job: job["status"]["replicaStatuses"]["Launcher"].get("failed")
        )
        await here.play_end(jobs, "Complete")
        await here.until(MPIJOBS, "pi", has("Succeeded"))
        await here.settled()
        counted = 'trainway_job_restarts_total{cause="failure",kind="MPIJob"} 2.0'
        assert counted in here.context.metrics.page().decode()

    on_stage(play)


def test_a_failed_worker_does_not_fail_the_job(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        jobs = await here.play_jobs()
        await here.play_running(jobs)
        await here.until(MPIJOBS, "pi", has("Running"))
        await here.play_pod(jobs["worker"], 0, "Failed")
        told = await here.until(
            MPIJOBS, "pi", lambda job: "failed" in job["status"]["replicaStatuses"]["Worker"]
        )
        assert told["status"]["replicaStatuses"]["Worker"] == {"active": 1, "failed": 1}
        assert has("Running")(told)
        assert not has("Failed")(told)

    on_stage(play)


def test_an_evicted_worker_is_told_and_does_not_end_the_job(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        jobs = await here.play_jobs()
        await here.play_running(jobs)
        await here.play_pod(jobs["worker"], 0, "Failed", reason="Evicted")
        told = await here.until(
            MPIJOBS, "pi", lambda job: "failed" in job["status"]["replicaStatuses"]["Worker"]
        )
        assert not has("Failed")(told)
        assert "completionTime" not in told["status"]
        assert not suspended(await here.until(JOBSETS, "pi"))

    on_stage(play)


def test_a_job_of_another_controller_is_left_alone(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(run_policy={"managedBy": MULTIKUEUE}))
        await here.settled()
        assert "status" not in await here.until(MPIJOBS, "pi")
        for resource, name in ((JOBSETS, "pi"), (SECRETS, "pi-ssh"), (CONFIG_MAPS, "pi-config")):
            assert await here.get(resource, name) is None
        events = (await here.client.list(EVENTS, here.namespace)).items
        assert {event["involvedObject"]["name"] for event in events} == {"last"}

    on_stage(play)


def test_a_job_that_is_being_deleted_is_left_alone(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        obj = mpijob()
        obj["metadata"]["finalizers"] = ["example.com/wait"]
        await here.submit(obj | {"spec": {**obj["spec"], "runPolicy": {"managedBy": MULTIKUEUE}}})
        await here.client.delete(MPIJOBS, "pi", here.namespace)
        await here.change(MPIJOBS, "pi", policy(managedBy=None))
        await here.settled()
        assert await here.get(JOBSETS, "pi") is None
        await here.change(MPIJOBS, "pi", {"metadata": {"finalizers": None}})

    on_stage(play)


def test_an_invalid_job_gets_an_event_and_nothing_else(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(slotsPerWorker=-1))
        event = await here.event("ValidationError")
        assert event["type"] == "Warning"
        assert event["message"].startswith("Found validation errors: spec.slotsPerWorker:")
        assert "status" not in await here.until(MPIJOBS, "pi")
        assert await here.get(JOBSETS, "pi") is None

    on_stage(play)


def test_the_jobset_goes_when_its_time_is_over_and_does_not_come_back(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(run_policy={"ttlSecondsAfterFinished": 0}))
        jobs = await here.play_jobs()
        await here.play_end(jobs, "Complete")
        await here.until(MPIJOBS, "pi", has("Succeeded"))
        await here.until_gone(JOBSETS, "pi")
        await here.settled()
        assert await here.get(JOBSETS, "pi") is None

    on_stage(play)


def test_the_job_itself_goes_if_it_says_so(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        obj = mpijob()
        obj["metadata"]["annotations"] = {TTL_SECONDS: "1"}
        await here.submit(obj)
        jobs = await here.play_jobs()
        await here.play_end(jobs, "Complete")
        await here.event("MPIJobSucceeded")
        await here.until_gone(MPIJOBS, "pi")

    on_stage(play)


def test_the_template_s_restart_policy_is_remarked_on(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        obj = mpijob()
        obj["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["restartPolicy"] = "Always"
        await here.submit(obj)
        assert (await here.event("SetPodTemplateRestartPolicy"))["type"] == "Warning"

    on_stage(play)
