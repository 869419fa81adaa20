from dataclasses import dataclass, field

import pytest

from trainway.api.kinds import read
from trainway.api.mpijob import MPIJob
from trainway.compiler.keys import FixedKeys
from trainway.compiler.mpijob import compile_mpijob
from trainway.compiler.mpijob_gang import GangScheduling
from trainway.compiler.network import JobIdentity, KubernetesNetwork
from trainway.json_types import Json

PRIORITIES = {"high": 100, "low": 10}


@dataclass(frozen=True)
class Case:
    name: str
    spec: Json
    """The spec of the PodGroup."""
    scheduler: str = "volcano"
    policy: Json = field(default_factory=dict)
    workers: int = 3
    annotations: dict[str, str] = field(default_factory=dict)
    launcher: Json = field(default_factory=dict)
    worker: Json = field(default_factory=dict)
    """More of the pod spec."""
    creation: str = "AtStartup"


CASES = [
    Case(
        "volcano counts and sums up all pods",
        {"minMember": 4, "minResources": {"cpu": "7", "memory": "3Gi", "nvidia.com/gpu": "6"}},
    ),
    Case(
        "coscheduling has a timeout of its own",
        {
            "minMember": 4,
            "minResources": {"cpu": "7", "memory": "3Gi", "nvidia.com/gpu": "6"},
            "scheduleTimeoutSeconds": 0,
        },
        scheduler="gangs",
    ),
    Case(
        "coscheduling knows no queue and no priority",
        {"minMember": 2, "minResources": {"cpu": 1}, "scheduleTimeoutSeconds": 60},
        scheduler="gangs",
        policy={
            "minAvailable": 2,
            "minResources": {"cpu": 1},
            "scheduleTimeoutSeconds": 60,
            "queue": "q",
            "priorityClass": "high",
        },
        annotations={"scheduling.volcano.sh/queue-name": "annotated"},
    ),
    Case(
        "volcano knows no timeout",
        {"minMember": 0, "queue": "q", "priorityClassName": "high"},
        policy={
            "minAvailable": 0,
            "scheduleTimeoutSeconds": 60,
            "queue": "q",
            "priorityClass": "high",
        },
        annotations={"scheduling.volcano.sh/queue-name": "annotated"},
        launcher={"priorityClassName": "low"},
    ),
    Case(
        "queue and priority of the job itself",
        {
            "minMember": 1,
            "minResources": {"cpu": "1"},
            "queue": "annotated",
            "priorityClassName": "high",
        },
        workers=0,
        annotations={"scheduling.volcano.sh/queue-name": "annotated"},
        launcher={"priorityClassName": "high"},
    ),
    Case(
        "the launcher's priority names the group's before the workers'",
        {
            "minMember": 2,
            "minResources": {"cpu": "4", "memory": "2Gi", "nvidia.com/gpu": "4"},
            "priorityClassName": "low",
        },
        policy={"minAvailable": 2},
        launcher={"priorityClassName": "low"},
        worker={"priorityClassName": "high"},
    ),
    Case(
        "on equal terms the workers are cut",
        {"minMember": 2, "minResources": {"cpu": "3", "memory": "1Gi", "nvidia.com/gpu": "2"}},
        policy={"minAvailable": 2},
    ),
    Case(
        "workers of higher priority leave room for the launcher",
        {
            "minMember": 4,
            "minResources": {"cpu": "7", "memory": "3Gi", "nvidia.com/gpu": "6"},
            "priorityClassName": "high",
        },
        policy={"minAvailable": 4},
        worker={"priorityClassName": "high"},
    ),
    Case(
        "an unknown class counts as 0",
        {
            "minMember": 1,
            "minResources": {"cpu": "1"},
            "priorityClassName": "unknown",
        },
        policy={"minAvailable": 1},
        worker={"priorityClassName": "unknown"},
    ),
    Case(
        "more members than pods",
        {"minMember": 9, "minResources": {"cpu": "3", "memory": "1Gi", "nvidia.com/gpu": "2"}},
        policy={"minAvailable": 9},
        workers=1,
    ),
    Case(
        "a launcher that waits is not in the gang",
        {"minMember": 3, "minResources": {"cpu": "6", "memory": "3Gi", "nvidia.com/gpu": "6"}},
        creation="WaitForWorkersReady",
    ),
]


def manifest(case: Case, *, suspend: bool = False) -> Json:
    launcher = {"name": "main", "image": "mpi", "resources": {"requests": {"cpu": "1"}}}
    limits = {"memory": "1Gi", "nvidia.com/gpu": 2}
    worker = {
        "name": "main",
        "image": "mpi",
        "resources": {"requests": {"cpu": "2"}, "limits": limits},
    }
    roles: Json = {"Launcher": {"template": {"spec": {"containers": [launcher], **case.launcher}}}}
    if case.workers:
        template = {"spec": {"containers": [worker], **case.worker}}
        roles["Worker"] = {"replicas": case.workers, "template": template}
    policy = {"schedulingPolicy": case.policy} if case.policy else {}
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "foo", "namespace": "bar", "annotations": case.annotations},
        "spec": {
            "mpiReplicaSpecs": roles,
            "launcherCreationPolicy": case.creation,
            "runPolicy": {"suspend": suspend, **policy},
        },
    }


def objects(obj: Json, scheduler: str) -> list[Json]:
    job = read(obj)
    assert isinstance(job, MPIJob)
    network = KubernetesNetwork(JobIdentity("foo", "bar", "foo"))
    gang = GangScheduling(scheduler, PRIORITIES)
    return compile_mpijob(job, network=network, keys=FixedKeys(), gang=gang).objects


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pod_group(case: Case) -> None:
    made = objects(manifest(case), case.scheduler)
    assert [obj["kind"] for obj in made] == ["Secret", "ConfigMap", "PodGroup", "JobSet"]
    group = made[2]
    assert group["metadata"] == made[3]["metadata"]
    assert group["spec"] == case.spec


@pytest.mark.parametrize(
    ("scheduler", "api_version", "labels", "annotations"),
    [
        ("volcano", "scheduling.volcano.sh/v1beta1", {}, {"scheduling.k8s.io/group-name": "foo"}),
        ("gangs", "scheduling.x-k8s.io/v1alpha1", {"scheduling.x-k8s.io/pod-group": "foo"}, {}),
    ],
)
def test_pods_are_marked(
    scheduler: str, api_version: str, labels: dict[str, str], annotations: dict[str, str]
) -> None:
    own_scheduler = {"schedulerName": "mine"}
    case = Case("", {}, launcher=own_scheduler, worker=own_scheduler)
    group, jobset = objects(manifest(case), scheduler)[2:]
    assert group["apiVersion"] == api_version
    for role in jobset["spec"]["replicatedJobs"]:
        pod = role["template"]["spec"]["template"]
        assert pod["spec"]["schedulerName"] == scheduler
        marks = pod["metadata"]["labels"] | pod["metadata"]["annotations"]
        expected = labels | annotations
        assert {key: marks[key] for key in marks if key.startswith("scheduling.")} == expected
        assert expected.items() <= pod["metadata"]["labels" if labels else "annotations"].items()


def test_a_suspended_job_has_no_group_yet() -> None:
    kinds = [obj["kind"] for obj in objects(manifest(CASES[0], suspend=True), "volcano")]
    assert kinds == ["Secret", "ConfigMap", "JobSet"]
