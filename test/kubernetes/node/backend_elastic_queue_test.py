"""The queue takes single nodes from an elastic job in real pods, and gives them back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.processes import wait_until
from installation import Installation, installed, kill

PATIENCE_S = 180.0
QUEUE = """
apiVersion: trainway.dev/v1
kind: Queue
metadata: {name: team}
spec:
  quota: {cpu: 1}
  preemption: Queue
"""
WAITING = ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"]


@pytest.fixture
def home(node_cluster: Access, tmp_path: Path) -> Iterator[Installation]:
    variables = {"KUBECONFIG": str(node_cluster.kubeconfig)}
    with installed(tmp_path / "home", variables) as installation:
        (tmp_path / "queue.yaml").write_text(QUEUE)
        installation.run("queues", "apply", "-f", str(tmp_path / "queue.yaml"))
        yield installation


def submitted(home: Installation, folder: Path, name: str, *options: str) -> str:
    """A job whose nodes take 0.3 CPUs each, of the one that the queue has, and never end."""
    trainer = {"command": WAITING, "resourcesPerNode": {"requests": {"cpu": "300m"}}}
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name, "annotations": {"trainway.dev/kubernetes-form": "jobset"}},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer},
    }
    file = folder / f"{name}.json"
    file.write_text(json.dumps(job))
    return home.submit("--queue", "team", *options, str(file))


def running(cluster: Access, namespace: str, job: str) -> dict[str, str]:
    """The uids of the pods of a job that run, by their ranks."""
    pods = cluster.get("pods", "-n", namespace)["items"]
    mark = "batch.kubernetes.io/job-completion-index"
    return {
        each["metadata"]["labels"][mark]: each["metadata"]["uid"]
        for each in pods
        if each["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] == job
        and each["status"]["phase"] == "Running"
        and "deletionTimestamp" not in each["metadata"]
    }


def until_running(cluster: Access, namespace: str, job: str, ranks: str) -> dict[str, str]:
    found: dict[str, str] = {}

    def are_there() -> bool:
        found.clear()
        found.update(running(cluster, namespace, job))
        return sorted(found) == list(ranks)

    assert wait_until(are_there, PATIENCE_S), found
    return found


def size_of(cluster: Access, namespace: str) -> int | None:
    found = cluster.find("jobs.batch", "low-node-0", namespace)
    return None if found is None else int(found["spec"]["completions"])


def test_nodes_are_taken_and_given_back_also_by_a_server_that_is_killed(
    home: Installation, node_cluster: Access, host_namespace: str, tmp_path: Path
) -> None:
    on = f"k8s/{CONTEXT}/{host_namespace}"
    low = submitted(home, tmp_path, "low", "--nodes", "2:3", "--on", on)
    first = until_running(node_cluster, host_namespace, "low", "012")

    high = submitted(home, tmp_path, "high", "--priority", "5", "--on", on)
    kill(home.server_pid())
    home.run("jobs", "list")
    until_running(node_cluster, host_namespace, "high", "0")
    left = running(node_cluster, host_namespace, "low")
    assert left == {rank: uid for rank, uid in first.items() if rank != "2"}
    assert home.job(low)["status"]["phase"] == "Running"

    # One that JobSet makes anew gets no more nodes than it may have.
    node_cluster.kubectl("delete", "job", "low-node-0", "-n", host_namespace)
    assert wait_until(lambda: size_of(node_cluster, host_namespace) == 2, PATIENCE_S)
    until_running(node_cluster, host_namespace, "low", "01")

    home.run("jobs", "delete", high)
    until_running(node_cluster, host_namespace, "low", "012")
    events = home.json("jobs", "events", low)["items"]
    told = [each["message"] for each in events if each["reason"] in ("Preempting", "Growing")]
    assert told == [f"it gives up 1 node for high ({high})", "there is room for 1 node more"]
