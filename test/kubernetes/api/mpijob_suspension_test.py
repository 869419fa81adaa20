"""MPIJobs on a real API server: suspended and resumed, as Kueue does it."""

from datetime import datetime

from mpijob_world import Run, conditions, has, policy, suspended

from trainway.json_types import Json
from trainway.kube.resources import JOBSETS, MPIJOBS
from trainway.operator.mpijobs.testing import mpijob
from trainway.operator.mpijobs.testing_cluster import Stage


def worker_pod(jobset: Json) -> Json:
    roles = {role["name"]: role for role in jobset["spec"]["replicatedJobs"]}
    template: Json = roles["worker"]["template"]["spec"]["template"]
    return template


def _m(obj: Json) -> Json:
    metadata: Json = obj["metadata"]
    return metadata


def test_created_suspended_and_resumed_as_kueue_does(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(run_policy={"suspend": True}))
        jobset = await here.until(JOBSETS, "pi", suspended)
        await here.play_jobs()
        told = await here.until(
            MPIJOBS, "pi", lambda job: "Launcher" in job["status"]["replicaStatuses"]
        )
        assert conditions(told) == {
            ("Created", "True", "MPIJobCreated"),
            ("Suspended", "True", "MPIJobSuspended"),
            ("Running", "False", "MPIJobSuspended"),
        }
        assert "startTime" not in told["status"]
        await here.event("MPIJobSuspended")

        template: Json = {
            "metadata": {"labels": {"podset": "w"}, "annotations": {"flavour": "spot"}},
            "spec": {
                "nodeSelector": {"pool": "gpu"},
                "tolerations": [{"key": "spot", "operator": "Exists"}],
                "schedulingGates": [{"name": "topology"}],
            },
        }
        change = {"mpiReplicaSpecs": {"Worker": {"template": template}}}
        await here.change(MPIJOBS, "pi", {"spec": change | {"runPolicy": {"suspend": False}}})
        resumed = await here.until(JOBSETS, "pi", lambda found: not suspended(found))
        assert resumed["metadata"]["uid"] == jobset["metadata"]["uid"]
        made = worker_pod(resumed)
        assert made["metadata"]["labels"]["podset"] == "w"
        assert made["metadata"]["annotations"]["flavour"] == "spot"
        for field, value in template["spec"].items():
            assert made["spec"][field] == value
        told = await here.until(MPIJOBS, "pi", has("Suspended", "False"))
        assert ("Suspended", "False", "MPIJobResumed") in conditions(told)
        assert told["status"]["startTime"]
        await here.event("MPIJobResumed")

    on_stage(play)


def test_a_running_job_is_suspended_and_what_kueue_set_is_taken_away(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        obj = mpijob()
        worker = obj["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
        worker["nodeSelector"] = {"pool": "gpu"}
        await here.submit(obj)
        jobs = await here.play_jobs()
        await here.play_running(jobs)
        told = await here.until(MPIJOBS, "pi", has("Running"))
        started = told["status"]["startTime"]
        first = await here.until(JOBSETS, "pi")

        change = {"Worker": {"template": {"spec": {"nodeSelector": None}}}}
        await here.change(
            MPIJOBS, "pi", {"spec": {"mpiReplicaSpecs": change, "runPolicy": {"suspend": True}}}
        )
        told = await here.until(MPIJOBS, "pi", has("Suspended"))
        assert ("Running", "False", "MPIJobSuspended") in conditions(told)
        assert told["status"]["startTime"] == started
        # JobSet would keep the selector in its Jobs, so another one comes in its place.
        going = await here.until(JOBSETS, "pi", lambda found: "deletionTimestamp" in _m(found))
        assert going["metadata"]["finalizers"] == ["foregroundDeletion"]
        await here.change(JOBSETS, "pi", {"metadata": {"finalizers": None}})
        second = await here.until(
            JOBSETS, "pi", lambda found: found["metadata"]["uid"] != first["metadata"]["uid"]
        )
        assert suspended(second)
        assert "nodeSelector" not in worker_pod(second)["spec"]
        told = await here.until(
            MPIJOBS, "pi", lambda job: job["status"]["replicaStatuses"]["Worker"] == {}
        )

    on_stage(play)


def test_the_time_starts_anew_with_a_resume(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        told = await here.until(MPIJOBS, "pi", has("Created"))
        early = "2020-01-01T00:00:00Z"
        await here.client.patch(
            MPIJOBS, "pi", here.namespace, {"status": {"startTime": early}}, subresource="status"
        )
        await here.change(MPIJOBS, "pi", policy(suspend=True))
        told = await here.until(MPIJOBS, "pi", has("Suspended"))
        assert told["status"]["startTime"] == early
        await here.change(MPIJOBS, "pi", policy(suspend=False))
        told = await here.until(MPIJOBS, "pi", has("Suspended", "False"))
        assert datetime.fromisoformat(told["status"]["startTime"]).year > 2020
        await here.until(JOBSETS, "pi", lambda found: not suspended(found))

    on_stage(play)
