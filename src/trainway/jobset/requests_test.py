from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.jobset.quantity import InvalidQuantityError
from trainway.jobset.requests import container_requests, pod_requests


def box(
    requests: dict[str, Any] | None = None,
    limits: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests, "limits": limits}, **more}


def sidecar(requests: dict[str, Any]) -> dict[str, Any]:
    return box(requests, restartPolicy="Always")


@dataclass(frozen=True)
class Case:
    name: str
    pod: dict[str, Any]
    expected: dict[str, str] = field(default_factory=dict)


CASES = [
    Case("an empty pod asks for nothing", {}),
    Case("no resources", {"containers": [{"name": "c"}, {"name": "d", "resources": None}]}),
    Case(
        "containers add up, key by key",
        {"containers": [box({"cpu": 1, "memory": "512Mi"}), box({"cpu": "500m", "x": "2"})]},
        {"cpu": "1500m", "memory": "512Mi", "x": "2"},
    ),
    Case(
        "N8: a limit counts where there is no request",
        {"containers": [box({"cpu": "1"}, {"cpu": "4", "nvidia.com/gpu": 2})]},
        {"cpu": "1", "nvidia.com/gpu": "2"},
    ),
    Case(
        "an init container counts only as far as it asks for more",
        {
            "containers": [box({"cpu": "2", "memory": "1Gi"})],
            "initContainers": [box({"cpu": "3"}), box({"cpu": "1", "memory": "2Gi"})],
        },
        {"cpu": "3", "memory": "2Gi"},
    ),
    Case(
        "sidecars run beside the containers",
        {
            "containers": [box({"cpu": "2"})],
            "initContainers": [sidecar({"cpu": "1"}), sidecar({"cpu": "1"})],
        },
        {"cpu": "4"},
    ),
    Case(
        "sidecars run beside the init containers after them",
        {
            "containers": [box({"cpu": "1"})],
            "initContainers": [
                box({"cpu": "4"}),
                sidecar({"cpu": "2"}),
                box({"cpu": "3"}),
                sidecar({"cpu": "1"}),
            ],
        },
        {"cpu": "5"},
    ),
    Case(
        "overhead comes on top",
        {"containers": [box({"cpu": "1"})], "overhead": {"cpu": "250m", "memory": "64Mi"}},
        {"cpu": "1250m", "memory": "64Mi"},
    ),
    Case(
        "pod-level requests replace the sum, for cpu, memory and huge pages only",
        {
            "containers": [box({"cpu": "1", "hugepages-2Mi": "2Mi", "nvidia.com/gpu": "1"})],
            "resources": {
                "requests": {"cpu": "4", "hugepages-2Mi": "8Mi", "nvidia.com/gpu": "9"},
            },
            "overhead": {"cpu": "1"},
        },
        {"cpu": "5", "hugepages-2Mi": "8Mi", "nvidia.com/gpu": "1"},
    ),
    Case(
        "a pod-level limit counts only for what no container names",
        {
            "containers": [box({"cpu": "1"})],
            "resources": {"limits": {"cpu": "4", "memory": "8Gi"}},
        },
        {"cpu": "1", "memory": "8Gi"},
    ),
    Case(
        "huge pages cannot be overcommitted, so their pod-level limit is the request",
        {
            "containers": [box({"hugepages-2Mi": "2Mi"})],
            "resources": {"limits": {"hugepages-2Mi": "8Mi"}},
        },
        {"hugepages-2Mi": "8Mi"},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_pod_asks_for(case: Case) -> None:
    assert {name: str(amount) for name, amount in pod_requests(case.pod).items()} == case.expected


def test_what_a_container_asks_for() -> None:
    found = container_requests(box({"cpu": "0"}, {"cpu": "1", "memory": "1Gi"}))
    assert {name: str(amount) for name, amount in found.items()} == {"cpu": "0", "memory": "1Gi"}


def test_a_bad_quantity_is_told() -> None:
    with pytest.raises(InvalidQuantityError, match="lots"):
        pod_requests({"containers": [box({"cpu": "lots"})]})
