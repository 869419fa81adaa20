"""Pods on fake nodes live as they are told: the other tests on KWOK rely on it."""

import pytest
from cluster.kwok import NODES, KwokCluster
from cluster.kwok_stages import FAILS, RUNS_FOR
from cluster.processes import wait_until

from trainway.json_types import Json

WRITTEN = "hello from a pod that only pretends"


def jobset(name: str, fails: str) -> Json:
    pod = {
        "metadata": {"annotations": {RUNS_FOR: "100ms", FAILS: fails}},
        "spec": {"containers": [{"name": "c", "image": "docker.io/local/none:1"}]},
    }
    job = {"parallelism": 3, "completions": 3, "backoffLimit": 0, "template": pod}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {
            "replicatedJobs": [{"name": "work", "template": {"spec": job}}],
            "failurePolicy": {"maxRestarts": 1},
        },
    }


def test_all_nodes_are_ready(kwok_cluster: KwokCluster) -> None:
    nodes = kwok_cluster.get("nodes")["items"]
    assert len(nodes) == NODES
    for node in nodes:
        ready = [c for c in node["status"]["conditions"] if c["type"] == "Ready"]
        assert [c["status"] for c in ready] == ["True"]
        assert not node["spec"].get("taints")


@pytest.mark.parametrize(
    ("fails", "state", "restarts"),
    [("never", "Completed", 0), ("once", "Completed", 1), ("always", "Failed", 1)],
)
def test_a_gang_ends_as_its_pods_are_told(
    kwok_cluster: KwokCluster, namespace: str, fails: str, state: str, restarts: int
) -> None:
    kwok_cluster.apply(jobset("gang", fails), namespace=namespace)

    def status() -> Json:
        found: Json = kwok_cluster.get("jobset", "gang", "-n", namespace).get("status", {})
        return found

    assert wait_until(lambda: bool(status().get("terminalState")), 180), status()
    assert status()["terminalState"] == state
    assert status().get("restarts", 0) == restarts
    pods = kwok_cluster.get("pods", "-n", namespace)["items"]
    assert {pod["spec"]["nodeName"][:5] for pod in pods} == {"kwok-"}
    name = pods[0]["metadata"]["name"]
    assert kwok_cluster.kubectl("logs", "-n", namespace, name).stdout == f"{WRITTEN}\n"
