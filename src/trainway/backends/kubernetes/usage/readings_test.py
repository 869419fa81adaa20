"""The requests, and what answers like those of metrics-server and of a kubelet say."""

import pytest

from trainway.backends.kubernetes.usage.readings import (
    Reading,
    metrics_readings,
    metrics_request,
    summary_readings,
    summary_request,
)
from trainway.json_types import Json
from trainway.kube.requests import Request

TIME = "2026-11-17T05:55:28Z"
METRICS: Json = {
    "kind": "PodMetricsList",
    "items": [
        {
            "metadata": {"name": "demo-node-0-0-abcde", "namespace": "ml"},
            "timestamp": TIME,
            "window": "15.1s",
            "containers": [
                {"name": "main", "usage": {"cpu": "1870300000n", "memory": "2048Ki"}},
                {"name": "side", "usage": {"cpu": "10m", "memory": "1Mi"}},
            ],
        },
        {
            "metadata": {"name": "new", "namespace": "ml"},
            "timestamp": TIME,
            "containers": [{"name": "main", "usage": {"cpu": "0", "memory": "0"}}],
        },
    ],
}
SUMMARY: Json = {
    "node": {"nodeName": "a"},
    "pods": [
        {
            "podRef": {"name": "demo-node-0-0-abcde", "namespace": "ml", "uid": "u"},
            "cpu": {"time": TIME, "usageNanoCores": 110_138_193, "usageCoreNanoSeconds": 5},
            "memory": {"time": TIME, "usageBytes": 1, "workingSetBytes": 30_171_136},
        },
        {
            "podRef": {"name": "new", "namespace": "ml", "uid": "v"},
            "cpu": {"time": TIME, "usageNanoCores": 0},
            "memory": {"time": TIME, "workingSetBytes": 0},
        },
        {"podRef": {"name": "newer", "namespace": "ml"}, "cpu": {"time": TIME}},
    ],
}
NO_COUNTS: tuple[object, ...] = (-1, True, "7", 1.5, None, [])
ODD: list[object] = [
    None,
    [],
    "text",
    {},
    {"items": None, "pods": 5},
    {"items": [1, {"metadata": 3, "containers": {}}], "pods": [None, {"podRef": "a"}]},
    {"items": [{"metadata": {"name": "a", "namespace": "b"}, "containers": []}]},
    {
        "items": [
            {
                "metadata": {"name": "a", "namespace": "b"},
                "containers": [{"usage": {"cpu": "1", "memory": text}}],
            }
            for text in ("much", "1" * 10_000, "-5", "1e999999999", 7, None, ["1Mi"])
        ],
        "pods": [
            {
                "podRef": {"name": "a", "namespace": "b"},
                "cpu": {"usageNanoCores": number},
                "memory": {"workingSetBytes": 9},
            }
            for number in NO_COUNTS
        ],
    },
]


def test_the_requests_are_these() -> None:
    assert metrics_request("ml", "jobset.sigs.k8s.io/jobset-name") == Request(
        "GET",
        "/apis/metrics.k8s.io/v1beta1/namespaces/ml/pods"
        "?labelSelector=jobset.sigs.k8s.io%2Fjobset-name",
    )
    assert summary_request("gpu-1.example.org") == Request(
        "GET", "/api/v1/nodes/gpu-1.example.org/proxy/stats/summary?only_cpu_and_memory=true"
    )
    assert "/nodes/..%2Fx/proxy/" in summary_request("../x").path


def test_containers_of_a_pod_are_added_up() -> None:
    pod = Reading(188.03, 3 << 20, TIME)
    assert metrics_readings(METRICS) == {("ml", "demo-node-0-0-abcde"): pod}


def test_a_kubelet_says_it_by_pod() -> None:
    reading = summary_readings(SUMMARY)["ml", "demo-node-0-0-abcde"]
    assert (round(reading.cpu, 1), reading.memory, reading.time) == (11.0, 30_171_136, TIME)
    assert len(summary_readings(SUMMARY)) == 1


@pytest.mark.parametrize("answer", ODD)
def test_an_answer_that_makes_no_sense_says_nothing(answer: object) -> None:
    assert metrics_readings(answer) == {}
    assert summary_readings(answer) == {}
