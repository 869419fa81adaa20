from typing import Any

from trainway.json_types import Json
from trainway.kube.queue_position import path, position_among, position_in


def test_the_path() -> None:
    assert path("v1beta1", "n", "q") == (
        "/apis/visibility.kueue.x-k8s.io/v1beta1/namespaces/n/localqueues/q/pendingworkloads?limit=1000"
    )


def test_positions_count_from_one() -> None:
    items = [
        {"metadata": {"name": "a"}, "positionInLocalQueue": 0, "positionInClusterQueue": 4},
        {"metadata": {"name": "b"}, "positionInLocalQueue": 1, "positionInClusterQueue": 7},
    ]
    assert [position_in({"items": items}, name) for name in ("a", "b", "c")] == [1, 2, None]
    assert position_in({}, "a") is None


def workload(name: str, created: int, *conditions: tuple[str, str, str], **spec: Any) -> Json:
    told = [
        {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": f"T{time}"}
        for kind, reason, time in conditions
    ]
    return {
        "metadata": {"name": name, "creationTimestamp": f"T{created}", "uid": name},
        "spec": {"queueName": "q", **spec},
        "status": {"conditions": told},
    }


def test_workloads_are_in_the_order_in_which_kueue_takes_them() -> None:
    workloads = [
        workload("late", 3),
        workload("early", 2),
        workload("urgent", 4, priority=10),
        workload("never-ready", 1, ("Evicted", "PodsReadyTimeout", "5")),
        workload("preempted", 1, ("Evicted", "Preempted", "6")),
        workload("elsewhere", 1, queueName="other"),
        workload("admitted", 1, ("QuotaReserved", "", "1")),
        workload("held", 1, active=False),
    ]
    positions = {
        name: position_among(workloads, name)
        for name in (each["metadata"]["name"] for each in workloads)
    }
    assert positions == {
        "urgent": 1,
        "preempted": 2,
        "early": 3,
        "late": 4,
        "never-ready": 5,
        "elsewhere": 1,
        "admitted": None,
        "held": None,
    }
    assert position_among(workloads, "unknown") is None
