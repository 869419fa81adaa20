"""The health check of nodes in real pods: a sound node passes it, and a sick one is avoided."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.access import Access
from cluster.processes import wait_until
from installation import Installation

PATIENCE_S = 180.0
GPU = "nvidia.com/gpu"


@pytest.fixture
def node(node_cluster: Access) -> Iterator[str]:
    """A node that says that it has a GPU, which is not there."""
    (found,) = node_cluster.get("nodes")["items"]
    name = str(found["metadata"]["name"])
    offer(node_cluster, name, "1")
    yield name
    offer(node_cluster, name, None)


def offer(cluster: Access, node: str, count: str | None) -> None:
    change = json.dumps({"status": {"capacity": {GPU: count}, "allocatable": {GPU: count}}})
    words = ("--subresource", "status", "--type", "merge", "-p", change)
    cluster.kubectl("patch", "node", node, *words)


def test_a_sick_node_is_named_and_only_its_job_is_kept_off_the_last_one(
    home: Installation,
    node_cluster: Access,
    on: str,
    host_namespace: str,
    node: str,
    tmp_path: Path,
) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('trained', flush=True)\n")
    assert "trained" in home.run("run", str(script), "--on", on, "--health-check")

    words = ("--on", on, "--health-check", "--gpus", "1", "--name", "sick")
    job = home.submit(str(script), *words)
    assert wait_until(lambda: "Unschedulable" in str(home.look(job)["status"]), PATIENCE_S)

    told = home.json("jobs", "events", job)["items"]
    (message,) = [each["message"] for each in told if each["reason"] == "NodeSetAside"]
    assert message == f"node {node} failed its health check: 0 of the 1 GPUs of the pod are there"
    assert "Recovering" in [each["reason"] for each in told]
    assert home.look(job)["status"]["restarts"] == 0
    pods = node_cluster.get("pods", "-n", host_namespace)["items"]
    (pod,) = [each for each in pods if each["status"]["phase"] == "Pending"]
    affinity = pod["spec"]["affinity"]["nodeAffinity"]
    required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"][0]["matchFields"][0]["values"] == [node]
    (place,) = home.json("nodes", "list", "--on", on)
    (shown,) = place["nodes"]
    assert shown["drained"] == "", "no other is left"
    assert "trained" in home.run("run", str(script), "--on", on, "--health-check")
    home.run("jobs", "cancel", job)
