"""Coscheduling and Volcano: the PodGroup and the marks on pods."""

from trainway.compiler.testing import compiled, found, jobs, messages, role, runtime, trainjob
from trainway.json_types import Json

REQUESTS = {"requests": {"cpu": "500m", "memory": "1Gi"}}


def gang_runtime(policy: Json) -> Json:
    rt = runtime({"torch": {}}, role(resources=REQUESTS))
    rt["spec"]["podGroupPolicy"] = policy
    return rt


def test_coscheduling() -> None:
    outcome = compiled(
        gang_runtime({"coscheduling": {"scheduleTimeoutSeconds": 90}}), trainjob({"numNodes": 3})
    )
    group = found(outcome, "PodGroup")
    assert group["apiVersion"] == "scheduling.x-k8s.io/v1alpha1"
    assert group["spec"] == {
        "minMember": 3,
        "minResources": {"cpu": "1500m", "memory": "3Gi"},
        "scheduleTimeoutSeconds": 90,
    }
    labels = jobs(outcome)["node"].pod.data["metadata"]["labels"]
    assert labels == {"scheduling.x-k8s.io/pod-group": "t"}


def test_volcano() -> None:
    rt = gang_runtime({"volcano": {"networkTopology": {"mode": "soft"}}})
    rt["spec"]["template"]["metadata"] = {"annotations": {"scheduling.volcano.sh/queue-name": "q"}}
    pod = rt["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["priorityClassName"] = "high"
    known = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
    }
    outcome = compiled(rt, known, trainjob({"numNodes": 2}))
    assert found(outcome, "PodGroup")["spec"] == {
        "minMember": 2,
        "minResources": {"cpu": "1", "memory": "2Gi"},
        "queue": "q",
        "priorityClassName": "high",
        "networkTopology": {"mode": "soft", "highestTierAllowed": 1},
    }
    annotations = jobs(outcome)["node"].pod.data["metadata"]["annotations"]
    assert annotations == {"scheduling.k8s.io/group-name": "t"}


def test_a_queue_needs_a_name() -> None:
    rt = gang_runtime({"volcano": {}})
    key = "scheduling.volcano.sh/queue-name"
    rt["spec"]["template"]["metadata"] = {"annotations": {key: ""}}
    assert messages(rt, trainjob({})) == [
        f'spec.annotations[{key}]: Invalid value: "": Volcano queue name must not be empty'
    ]
