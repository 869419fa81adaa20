"""The MPIJob controller on a real API server: what it writes, and what it makes of what it sees."""

import asyncio
import base64
import copy
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import pytest
from cluster.access import Access

from trainway.kube.informer import Informer
from trainway.kube.resources import (
    CONFIG_MAPS,
    EVENTS,
    JOBS,
    JOBSETS,
    MPIJOBS,
    PODS,
    SECRETS,
    Resource,
)
from trainway.kube.store import Store
from trainway.operator.config import OperatorConfig
from trainway.operator.mpijobs.controller import Reconciler
from trainway.operator.mpijobs.testing import mpijob
from trainway.operator.mpijobs.testing_cluster import Stage, running_controller, stage
from trainway.operator.mpijobs.watches import Watches
from trainway.operator.trainjobs.annotations import TTL

Json = dict[str, Any]
Play = Callable[[Stage], Awaitable[None]]
Run = Callable[[Play], None]

_MULTIKUEUE = "kueue.x-k8s.io/multikueue"


@pytest.fixture(scope="module", autouse=True)
def _kinds(api_cluster: Access) -> None:
    api_cluster.install_jobset_crds()
    api_cluster.install_our_crds()


@pytest.fixture
def on_stage(api_cluster: Access, namespace: str) -> Run:
    """Runs a scenario in a namespace that has a controller."""

    async def run(play: Play) -> None:
        async with stage(api_cluster.kubeconfig, namespace) as here:
            await play(here)

    return lambda play: asyncio.run(run(play))


def conditions(job: Json) -> set[tuple[str, str, str]]:
    return {
        (each["type"], each["status"], each["reason"])
        for each in job.get("status", {}).get("conditions", [])
    }


def has(type_: str, status: str = "True") -> Callable[[Json], bool]:
    return lambda job: (type_, status) in {each[:2] for each in conditions(job)}


def suspended(job: Json) -> bool:
    return bool(job["spec"].get("suspend"))


def is_owned(child: Json, job: Json) -> bool:
    (owner,) = child["metadata"]["ownerReferences"]
    return bool(owner["uid"] == job["metadata"]["uid"] and owner["controller"])


def worker_pod(jobset: Json) -> Json:
    roles = {role["name"]: role for role in jobset["spec"]["replicatedJobs"]}
    template: Json = roles["worker"]["template"]["spec"]["template"]
    return template


def policy(**fields: Any) -> Json:
    return {"spec": {"runPolicy": fields}}


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


def _m(obj: Json) -> Json:
    metadata: Json = obj["metadata"]
    return metadata


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
        assert "mpi_operator_jobs_failed_total 1.0" in here.context.metrics.page().decode()

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


def test_an_evicted_worker_fails_the_job_and_stops_its_pods(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        jobs = await here.play_jobs()
        await here.play_running(jobs)
        await here.play_pod(jobs["worker"], 0, "Failed", reason="Evicted")
        told = await here.until(MPIJOBS, "pi", has("Failed"))
        (failed,) = (each for each in told["status"]["conditions"] if each["type"] == "Failed")
        assert (failed["reason"], failed["message"]) == (
            "MPIJobEvicted",
            "1/2 workers are evicted",
        )
        assert told["status"]["completionTime"]
        await here.until(JOBSETS, "pi", suspended)

    on_stage(play)


def test_a_job_of_another_controller_is_left_alone(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(run_policy={"managedBy": _MULTIKUEUE}))
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
        await here.submit(obj | {"spec": {**obj["spec"], "runPolicy": {"managedBy": _MULTIKUEUE}}})
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


def has_pods(count: int, job: Json) -> bool:
    return bool(job["spec"]["completions"] == count)


def has_hosts(count: int, config: Json) -> bool:
    return len(config["data"]["hostfile"].splitlines()) == count


def test_workers_are_scaled_and_the_hosts_follow(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob(runLauncherAsWorker=True))
        jobs = await here.play_jobs()
        await here.play_running(jobs)
        await here.until(MPIJOBS, "pi", has("Running"))
        jobset = await here.until(JOBSETS, "pi")
        for replicas in (3, 1):
            change = {"mpiReplicaSpecs": {"Worker": {"replicas": replicas}}}
            await here.change(MPIJOBS, "pi", {"spec": change})
            job = await here.until(JOBS, "pi-worker-0", partial(has_pods, replicas))
            assert job["spec"]["parallelism"] == replicas
            await here.until(CONFIG_MAPS, "pi-config", partial(has_hosts, replicas + 1))
        same = await here.until(JOBSETS, "pi")
        assert same["metadata"]["generation"] == jobset["metadata"]["generation"]

    on_stage(play)


def test_the_script_follows_the_pods_and_a_changed_file_is_repaired(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        jobs = await here.play_jobs()
        config = await here.until(CONFIG_MAPS, "pi-config")
        script = "discover_hosts.sh"
        assert config["data"][script] == "#!/bin/sh\n"
        await here.play_pod(jobs["worker"], 1, "Running")
        host = f"pi-worker-0-1.pi.{here.namespace}.svc"
        config = await here.until(
            CONFIG_MAPS,
            "pi-config",
            lambda found: found["data"][script] == f"#!/bin/sh\necho {host}\n",
        )
        await here.change(CONFIG_MAPS, "pi-config", {"data": {"hostfile": "mine", script: None}})
        repaired = await here.until(
            CONFIG_MAPS, "pi-config", lambda found: found["data"] == config["data"]
        )
        await here.client.delete(CONFIG_MAPS, "pi-config", here.namespace)
        again = await here.until(
            CONFIG_MAPS,
            "pi-config",
            lambda found: found["metadata"]["uid"] != repaired["metadata"]["uid"],
        )
        assert again["data"] == config["data"]

    on_stage(play)


@pytest.mark.parametrize(
    ("resource", "name"), [(SECRETS, "pi-ssh"), (JOBSETS, "pi")], ids=["Secret", "JobSet"]
)
def test_a_child_that_is_deleted_comes_back(on_stage: Run, resource: Resource, name: str) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        first = await here.until(resource, name)
        await here.client.delete(resource, name, here.namespace)
        second = await here.until(
            resource, name, lambda found: found["metadata"]["uid"] != first["metadata"]["uid"]
        )
        assert second["metadata"]["ownerReferences"] == first["metadata"]["ownerReferences"]

    on_stage(play)


@pytest.mark.parametrize(
    ("resource", "name", "content"),
    [
        (SECRETS, "pi-ssh", {"data": {}}),
        (CONFIG_MAPS, "pi-config", {"data": {"mine": "1"}}),
        (JOBSETS, "pi", {"spec": {"replicatedJobs": []}}),
    ],
    ids=["Secret", "ConfigMap", "JobSet"],
)
def test_what_is_not_ours_is_left_alone(
    on_stage: Run, resource: Resource, name: str, content: Json
) -> None:
    async def play(here: Stage) -> None:
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        foreign = head | {"metadata": {"name": name}} | content
        before = await here.client.create(resource, foreign, here.namespace)
        await here.settled()  # it is seen
        await here.submit(mpijob())
        event = await here.event("ErrResourceExists")
        assert event["type"] == "Warning"
        assert event["message"] == (
            f'Resource "{name}" of Kind "{resource.kind}" already exists'
            " and is not managed by MPIJob"
        )
        after = await here.until(resource, name)
        assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
        await here.client.delete(resource, name, here.namespace)
        await here.until(MPIJOBS, "pi", has("Created"))

    on_stage(play)


def test_what_an_earlier_job_left_is_waited_for(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        await here.submit(mpijob())
        old = await here.until(JOBSETS, "pi")
        await here.client.delete(MPIJOBS, "pi", here.namespace)  # nobody collects its children
        job = await here.submit(mpijob())
        await here.settled()
        assert "status" not in await here.until(MPIJOBS, "pi")
        for resource, name in ((JOBSETS, "pi"), (SECRETS, "pi-ssh"), (CONFIG_MAPS, "pi-config")):
            await here.client.delete(resource, name, here.namespace)
        new = await here.until(JOBSETS, "pi")
        assert new["metadata"]["uid"] != old["metadata"]["uid"]
        assert is_owned(new, job)
        events = (await here.client.list(EVENTS, here.namespace)).items
        assert "ErrResourceExists" not in {event["reason"] for event in events}

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
        obj["metadata"]["annotations"] = {TTL: "1"}
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


def test_a_second_controller_changes_nothing(api_cluster: Access, namespace: str) -> None:
    async def play() -> None:
        async with stage(api_cluster.kubeconfig, namespace) as here:
            await here.submit(mpijob())
            await here.submit(mpijob("held", run_policy={"suspend": True}))
            jobs = await here.play_jobs()
            await here.play_running(jobs)
            await here.until(MPIJOBS, "pi", has("Running"))
            await here.until(MPIJOBS, "held", has("Suspended"))
            before = await versions(here)
            config = replace(OperatorConfig(), namespaces=(namespace,))
            async with running_controller(here.client, config) as second:
                await here.settled()
                await second.mpi_recorder.flush()
                assert await versions(here) == before

    asyncio.run(play())


def test_what_is_derived_from_old_news_is_not_written(on_stage: Run) -> None:
    async def play(here: Stage) -> None:
        managed = mpijob(run_policy={"managedBy": _MULTIKUEUE})
        await here.submit(managed)  # the controller beside us leaves it alone
        await here.settled()
        store = Store()
        old = await here.until(MPIJOBS, "pi")
        old["spec"]["runPolicy"] = {}
        store.put(f"{here.namespace}/pi", old)
        await here.change(MPIJOBS, "pi", {"metadata": {"labels": {"new": "1"}}})
        watches = Watches.of(here.context)
        deaf = replace(watches, mpijobs=replace_store(watches.mpijobs, store))
        again = await Reconciler(here.context, deaf).reconcile(f"{here.namespace}/pi")
        assert again == 1.0
        assert "status" not in await here.until(MPIJOBS, "pi")
        await here.context.mpi_recorder.flush()
        events = (await here.client.list(EVENTS, here.namespace)).items
        assert {event["involvedObject"]["name"] for event in events} == {"last"}

    on_stage(play)


def replace_store(informer: Informer, store: Store) -> Informer:
    """The same informer with other objects in it."""
    other = copy.copy(informer)
    other.store = store
    return other


async def versions(here: Stage) -> dict[tuple[str, str], str]:
    found = {}
    for resource in (MPIJOBS, JOBSETS, CONFIG_MAPS, SECRETS, JOBS):
        for obj in (await here.client.list(resource, here.namespace)).items:
            name = obj["metadata"]["name"]
            if not name.startswith("last"):
                found[resource.kind, name] = obj["metadata"]["resourceVersion"]
    return found
