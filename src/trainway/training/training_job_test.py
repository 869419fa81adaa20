"""The SDK against an API server that answers as it is told: the literal requests."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from trainway.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    TrainwayError,
    UnavailableError,
    UsageError,
)
from trainway.jobset.labels import SUSPENDED
from trainway.json_types import Json
from trainway.sdk import JobFailedError, WaitTimeoutError
from trainway.training import AsyncMPIJob, MPIJob, ResourceRequirements, State, TrainJob
from trainway.training.testing import JOBS, PODS, ApiServer, events, job, listing, pod

WORKLOADS = "/apis/kueue.x-k8s.io/v1beta1/namespaces/team/workloads"
NEWER_WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads"


@pytest.fixture
def mpijob(api: ApiServer, tmp_path: Path) -> MPIJob:
    return MPIJob(
        name="train",
        image="team/train:v1",
        command="python train.py",
        resources=ResourceRequirements(cpu=8, memory="64Gi", gpu=1),
        kubeconfig=api.kubeconfig(tmp_path),
    )


def test_create_sends_the_manifest(api: ApiServer, mpijob: MPIJob) -> None:
    api.on("POST", JOBS, job())
    mpijob.create()
    ((method, path, body),) = api.asked
    assert (method, path) == ("POST", f"{JOBS}?fieldManager=trainway&fieldValidation=Ignore")
    assert body == mpijob.to_dict()
    assert body["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] == 2


def test_a_trainjob_is_created_likewise(api: ApiServer, tmp_path: Path) -> None:
    path = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/nlp/trainjobs"
    api.on("POST", path, {})
    TrainJob(
        name="bert",
        namespace="nlp",
        workers=3,
        command=["torchrun", "train.py"],
        queue="team",
        resources=ResourceRequirements(gpu=2),
        kubeconfig=api.kubeconfig(tmp_path),
    ).create()
    assert api.asked[0][2] == {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {
            "name": "bert",
            "namespace": "nlp",
            "labels": {"kueue.x-k8s.io/queue-name": "team"},
        },
        "spec": {
            "runtimeRef": {"name": "torch-distributed"},
            "trainer": {
                "command": ["torchrun", "train.py"],
                "numNodes": 3,
                "resourcesPerNode": {
                    "requests": {"nvidia.com/gpu": "2"},
                    "limits": {"nvidia.com/gpu": "2"},
                },
            },
            "suspend": True,
        },
    }


def test_what_is_wrong_with_a_job_is_said_before_anything_is_sent(api: ApiServer) -> None:
    wrong = MPIJob(name="Train", workers=0, image="x", command='python "')
    with pytest.raises(InvalidError) as raised:
        wrong.create()
    assert [line.partition(":")[0] for line in raised.value.lines] == ["name", "command", "workers"]
    with pytest.raises(InvalidError):
        wrong.to_dict()
    assert api.asked == []


def test_the_end_is_waited_for_with_a_watch(api: ApiServer, mpijob: MPIJob) -> None:
    api.on("GET", f"{JOBS}/train", job("Running", 5))
    api.on("WATCH", JOBS, events(job("Running", 6), job("Succeeded", 7)))
    assert mpijob.wait_for_completion(timeout=60).state is State.SUCCEEDED
    _, path, _ = api.asked[1]
    assert path == (
        f"{JOBS}?fieldSelector=metadata.name=train&watch=true&allowWatchBookmarks=true"
        "&timeoutSeconds=300&resourceVersion=5"
    )


def test_a_watch_that_ends_is_begun_again(api: ApiServer, mpijob: MPIJob) -> None:
    api.on("GET", f"{JOBS}/train", job("Running", 5), job("Running", 6))
    api.on("WATCH", JOBS, b"", events(job("Succeeded", 7)))
    assert mpijob.wait_for_completion().state is State.SUCCEEDED
    versions = [path.rpartition("=")[2] for _, path, _ in api.asked if "watch" in path]
    assert versions == ["5", "6"]


def test_a_failure_says_who_and_why_with_the_last_lines(api: ApiServer, mpijob: MPIJob) -> None:
    api.on("GET", f"{JOBS}/train", job("Failed"))
    ended = {"terminated": {"exitCode": 3, "finishedAt": "2026-11-17T09:00:01Z"}}
    failed = pod("launcher", state=ended)
    api.on("GET", PODS, listing(failed))
    api.on("GET", f"{PODS}/{failed['metadata']['name']}/log", b"step 1\nno data\n")
    with pytest.raises(JobFailedError) as raised:
        mpijob.wait_for_completion()
    assert raised.value.message.splitlines() == [
        "train has failed: the launcher exited with status 3",
        "  step 1",
        "  no data",
    ]
    assert "container=launcher&tailLines=20" in api.asked[-1][1]


def test_a_wait_ends_in_time(api: ApiServer, mpijob: MPIJob) -> None:
    api.on("GET", f"{JOBS}/train", job("Running"))
    api.on("WATCH", JOBS, b"")
    with pytest.raises(WaitTimeoutError, match=r"train has not ended after 0.1 s"):
        mpijob.wait_for_completion(timeout=0.1)


def test_a_log_waits_until_its_pod_has_started(api: ApiServer, mpijob: MPIJob) -> None:
    starting = pod("launcher", state={"waiting": {"reason": "ContainerCreating"}}, phase="Pending")
    started = pod("launcher", state={"running": {}})
    api.on("GET", f"{JOBS}/train", job("Created"))
    api.on("GET", PODS, listing(), listing(starting, version="8"), listing(started))
    api.on("WATCH", PODS, events(starting), events(started))
    api.on("GET", f"{PODS}/{started['metadata']['name']}/log", b"one\ntwo")
    assert mpijob.get_logs(tail=5) == "one\ntwo\n"
    watched = [path for _, path, _ in api.asked if "watch" in path]
    assert [path.rpartition("=")[2] for path in watched] == ["7", "8"]
    assert "labelSelector=training.kubeflow.org/job-name=train" in watched[0]


def test_a_log_is_followed_into_the_next_attempt(api: ApiServer, mpijob: MPIJob) -> None:
    ended = {"terminated": {"exitCode": 1}}
    first = pod("launcher", state=ended, phase="Failed")
    second = pod("launcher", state=ended)
    second["metadata"] |= {"name": "second", "uid": "second", "creationTimestamp": "2026"}
    api.on("GET", f"{JOBS}/train", job("Running"), job("Running"), job("Failed"))
    api.on("GET", PODS, listing(first), listing(first, second))
    api.on("GET", f"{PODS}/{first['metadata']['name']}/log", b"one\n")
    api.on("GET", f"{PODS}/second/log", b"two\n")
    assert list(mpijob.follow_logs()) == ["one", "two"]


def test_logs_that_never_come_are_refused(api: ApiServer, mpijob: MPIJob) -> None:
    api.on("GET", PODS, listing())
    api.on("GET", f"{JOBS}/train", job("Suspended", suspend=True))
    with pytest.raises(ConflictError, match="the job is suspended"):
        mpijob.get_logs()
    api.on("GET", f"{JOBS}/train", job("Failed"))
    with pytest.raises(NotFoundError, match="is gone: the job has failed and its pod is removed"):
        mpijob.get_logs()
    with pytest.raises(NotFoundError, match="there is no worker 2: the last one is worker 1"):
        mpijob.get_logs("worker", 2)


def test_suspend_resume_and_scale_are_patches(api: ApiServer, mpijob: MPIJob) -> None:
    api.on("GET", f"{JOBS}/train", job("Running"))
    api.on("PATCH", f"{JOBS}/train", job())
    mpijob.suspend()
    mpijob.resume()
    mpijob.scale(5)
    assert [body["spec"] for method, _, body in api.asked if method == "PATCH"] == [
        {"runPolicy": {"suspend": True}},
        {"runPolicy": {"suspend": False}},
        {"mpiReplicaSpecs": {"Worker": {"replicas": 5}}},
    ]
    with pytest.raises(UsageError, match="cannot have 0 workers"):
        mpijob.scale(0)


def test_a_queued_job_is_suspended_through_its_workload(api: ApiServer, mpijob: MPIJob) -> None:
    queued = job("Suspended", suspend=True)
    queued["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    api.on("GET", f"{JOBS}/train", queued)
    workload = {"metadata": {"name": "mpijob-train", "namespace": "team"}}
    api.on("GET", WORKLOADS, listing(), listing(workload))
    api.on("PATCH", f"{NEWER_WORKLOADS}/mpijob-train", {})
    api.on("PATCH", f"{JOBS}/train", queued)
    mpijob.suspend()
    assert api.asked[-2][2] == {"spec": {"active": False}}
    assert api.asked[-1][2] == {"metadata": {"annotations": {SUSPENDED: "true"}}}
    assert api.asked[-3][1].startswith(f"{WORKLOADS}?labelSelector=kueue.x-k8s.io/job-uid=uid-1&")
    mpijob.resume()
    assert api.asked[-2][2] == {"spec": {"active": True}}
    assert api.asked[-1][2] == {"metadata": {"annotations": {SUSPENDED: None}}}


def test_an_older_kueue_takes_the_older_version(api: ApiServer, mpijob: MPIJob) -> None:
    queued = job("Running")
    queued["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    api.on("GET", f"{JOBS}/train", queued)
    api.on("GET", WORKLOADS, listing({"metadata": {"name": "old", "namespace": "team"}}))
    api.on("PATCH", f"{WORKLOADS}/old", {})
    api.on("PATCH", f"{JOBS}/train", queued)
    mpijob.suspend()
    changed = [path.partition("?")[0] for method, path, _ in api.asked if method == "PATCH"]
    assert changed == [f"{NEWER_WORKLOADS}/old", f"{WORKLOADS}/old", f"{JOBS}/train"]


def test_what_has_ended_is_not_suspended(api: ApiServer, mpijob: MPIJob) -> None:
    api.on("GET", f"{JOBS}/train", job("Succeeded"))
    with pytest.raises(UsageError, match="has ended and cannot be suspended"):
        mpijob.suspend()


def test_delete_removes_this_job_and_waits(api: ApiServer, mpijob: MPIJob) -> None:
    other = job()
    other["metadata"]["uid"] = "of-another"
    api.on("GET", f"{JOBS}/train", job(), job(), other)
    api.on("DELETE", f"{JOBS}/train", {})
    mpijob.delete()
    bodies = [body for method, _, body in api.asked if method == "DELETE"]
    assert [body["preconditions"] for body in bodies] == [{"uid": "uid-1"}]


REFUSALS: list[tuple[int, str, str, Json, type[TrainwayError], str]] = [
    (404, "NotFound", "the server could not find the requested resource", {}, UnavailableError,
     "the cluster has no MPIJobs: their CRD is not installed (install Trainway's operator"),
    (404, "NotFound", 'namespaces "team" not found', {"kind": "namespaces"}, NotFoundError,
     'there is no namespace "team"'),
    (409, "AlreadyExists", "exists", {}, ConflictError,
     'there is already an MPIJob "train" in namespace "team" (choose another name'),
    (403, "Forbidden", 'User "x" cannot create resource', {}, ForbiddenError,
     'you have no permission: User "x" cannot create resource (ask the administrator of'),
    (422, "Invalid", "spec.x: Invalid value", {}, InvalidError, "spec.x: Invalid value"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case[4].__name__)
def test_refusals_say_what_to_do(api: ApiServer, mpijob: MPIJob, case: Any) -> None:
    status, reason, message, details, kind, said = case
    body = {"code": status, "reason": reason, "message": message, "details": details}
    api.on("POST", JOBS, body, status=status)
    with pytest.raises(kind) as raised:
        mpijob.create()
    assert raised.value.sentence.startswith(said)


def test_a_job_that_is_not_there(api: ApiServer, mpijob: MPIJob) -> None:
    body = {"code": 404, "reason": "NotFound", "message": "no", "details": {"name": "train"}}
    api.on("GET", f"{JOBS}/train", body, status=404)
    with pytest.raises(NotFoundError, match='there is no MPIJob "train" in namespace "team"'):
        mpijob.get_status()


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, mpijob: MPIJob
) -> None:
    monkeypatch.setattr("trainway.training.packages.find_spec", lambda _name: None)
    with pytest.raises(UnavailableError) as raised:
        mpijob.get_status()
    assert raised.value.sentence == (
        "to talk to a Kubernetes cluster, install aiohttp and orjson"
        " (pip install 'trainway[kubernetes]')"
    )


def test_a_cluster_and_a_place_of_the_server_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="on= names a place of Trainway's server"):
        MPIJob(name="train", on="local", context="x")


def test_an_event_loop_that_runs_already_is_no_obstacle(api: ApiServer, tmp_path: Path) -> None:
    """As in a notebook, where also the blocking methods are called from a loop."""
    api.on("GET", f"{JOBS}/train", job("Running"))
    kubeconfig = api.kubeconfig(tmp_path)

    async def cell() -> tuple[State, State]:
        waiting = AsyncMPIJob("train", kubeconfig=kubeconfig)
        blocking = MPIJob("train", kubeconfig=kubeconfig)
        return (await waiting.get_status()).state, blocking.get_status().state

    assert asyncio.run(cell()) == (State.RUNNING, State.RUNNING)
