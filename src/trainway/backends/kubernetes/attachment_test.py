import pytest

from trainway.backends.kubernetes.attachment import attachment, default_container
from trainway.errors import ConflictError
from trainway.json_types import Json

HANDLE = {"id": "i", "name": "a", "namespace": "n", "context": "c", "kubeconfig": ["/k"]}


def pod(role: str, rank: int, phase: str = "Running", attempt: int = 0) -> Json:
    labels = {
        "jobset.sigs.k8s.io/replicatedjob-name": role,
        "jobset.sigs.k8s.io/job-index": "0",
        "jobset.sigs.k8s.io/restart-attempt": str(attempt),
        "batch.kubernetes.io/job-completion-index": str(rank),
    }
    return {
        "metadata": {"name": f"a-{role}-0-{rank}-{attempt}", "labels": labels},
        "spec": {"containers": [{"name": "main"}, {"name": "side"}]},
        "status": {"phase": phase},
    }


def test_the_first_pod_is_the_launcher_or_node_zero() -> None:
    nodes = [pod("node", rank) for rank in (2, 0, 1)]
    assert attachment(HANDLE, nodes) == {
        "job": "i",
        "pod": "a-node-0-0-0",
        "container": "main",
        "containers": ["main", "side"],
        "namespace": "n",
        "context": "c",
        "kubeconfig": ["/k"],
    }
    assert attachment(HANDLE, [*nodes, pod("launcher", 0)])["pod"] == "a-launcher-0-0-0"
    assert attachment(HANDLE, [pod("z", 0), pod("b", 1)])["pod"] == "a-b-0-1-0"


def test_a_pod_by_role_and_rank() -> None:
    pods = [pod("worker", 0), pod("worker", 1), pod("launcher", 0)]
    assert attachment(HANDLE, pods, "worker")["pod"] == "a-worker-0-0-0"
    assert attachment(HANDLE, pods, "worker", 1)["pod"] == "a-worker-0-1-0"
    assert attachment(HANDLE, pods, None, 1)["pod"] == "a-worker-0-1-0"


def test_only_the_newest_pods_count_and_only_those_that_run() -> None:
    pods = [pod("node", 0), pod("node", 0, attempt=1), pod("node", 1, "Pending", 1)]
    assert attachment(HANDLE, pods)["pod"] == "a-node-0-0-1"
    with pytest.raises(ConflictError, match="no pod of rank 1 of a is running"):
        attachment(HANDLE, pods, None, 1)
    with pytest.raises(ConflictError, match="a has no pod of role x now"):
        attachment(HANDLE, pods, "x")


def test_the_container_that_an_annotation_names() -> None:
    named = pod("node", 0)
    named["metadata"]["annotations"] = {"kubectl.kubernetes.io/default-container": "side"}
    assert default_container(named) == "side"
    named["metadata"]["annotations"] = {"kubectl.kubernetes.io/default-container": "gone"}
    assert default_container(named) == "main"
