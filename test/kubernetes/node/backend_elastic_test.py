"""An elastic torch job in real pods: it loses nodes, goes on with fewer, and grows again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from elastic_log import next_size
from environments import REPOSITORY
from installation import Installation, installed

HERE = REPOSITORY / "test" / "e2e"


@pytest.fixture
def home(node_cluster: Access, tmp_path: Path) -> Iterator[Installation]:
    variables = {"KUBECONFIG": str(node_cluster.kubeconfig)}
    with installed(tmp_path / "home", variables) as installation:
        yield installation


def submitted(home: Installation, folder: Path, on: str) -> str:
    """A job of two to three nodes, which ends when one of them has a file."""
    imports = f"{REPOSITORY / 'examples'}:{HERE}"
    trainer = {
        "numProcPerNode": 1,
        "command": ["torchrun", str(HERE / "paced_elastic.py"), "/tmp", "--pause", "0.05"],
        "args": ["--timeout", "20"],
        "env": [
            {"name": "PYTHONPATH", "value": imports},
            {"name": "OMP_NUM_THREADS", "value": "1"},
        ],
    }
    annotations = {"trainway.dev/kubernetes-form": "jobset"}
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "elastic", "annotations": annotations},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer},
    }
    file = folder / "job.json"
    file.write_text(json.dumps(job))
    return home.submit("--nodes", "2:3", "--on", on, str(file))


def pod_of(cluster: Access, namespace: str, rank: int) -> str:
    pods = cluster.get("pods", "-n", namespace)["items"]
    mark = "batch.kubernetes.io/job-completion-index"
    names = [
        str(each["metadata"]["name"])
        for each in pods
        if each["metadata"]["labels"][mark] == str(rank) and each["status"]["phase"] == "Running"
    ]
    (name,) = names
    return name


@contextmanager
def no_room(cluster: Access) -> Iterator[None]:
    """No pod finds a node."""
    (node,) = cluster.get("nodes")["items"]
    cluster.kubectl("cordon", node["metadata"]["name"])
    try:
        yield
    finally:
        cluster.kubectl("uncordon", node["metadata"]["name"])


def lose(cluster: Access, namespace: str, rank: int) -> None:
    """Have a pod gone as if its node were."""
    name = pod_of(cluster, namespace, rank)
    cluster.kubectl("delete", "pod", name, "-n", namespace, "--force", "--grace-period=0")


def test_a_node_is_lost_and_comes_back_and_the_job_ends_without_one(
    home: Installation, node_cluster: Access, host_namespace: str, tmp_path: Path
) -> None:
    job = submitted(home, tmp_path, f"k8s/{CONTEXT}/{host_namespace}")
    with home.follow_logs(job) as log:
        first = next_size(log, 3)
        with no_room(node_cluster):
            lose(node_cluster, host_namespace, 2)
            fewer = next_size(log, 2)
        again = next_size(log, 3)
        with no_room(node_cluster):
            lose(node_cluster, host_namespace, 2)
            name = pod_of(node_cluster, host_namespace, 0)
            node_cluster.kubectl("exec", "-n", host_namespace, name, "--", "touch", "/tmp/finish")
            home.run("jobs", "wait", job)

    assert first < fewer < again
    status = home.job(job)["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 0)
    events = home.json("jobs", "events", job)["items"]
    told = [event["message"] for event in events if event["reason"] == "NodesChanged"]
    assert told[:3] == [f"runs with {nodes} of 3 nodes" for nodes in (3, 2, 3)]
