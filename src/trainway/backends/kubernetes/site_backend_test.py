"""Nodes of a cluster that failed a health check, and jobs that are kept off them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.base import BackendSettings, Update
from trainway.backends.kubernetes.backend import KubernetesBackend
from trainway.backends.kubernetes.backend_test import KUBECONFIG
from trainway.backends.kubernetes.planning_test import jobset, workload
from trainway.backends.nodes import Node
from trainway.errors import UnavailableError
from trainway.json_types import Json

WHY = "nvidia-smi exited with 9"
SICK = {
    "seq": 4,
    "type": "event",
    "reason": "NodeSetAside",
    "object": "Node/n1",
    "message": f"node n1 failed its health check: {WHY}",
    "time": "2026-11-18T11:00:00Z",
}


class Cluster:
    """A cluster with nodes, on which one job is watched."""

    log_limit = 0

    def __init__(self, *nodes: Node) -> None:
        self._nodes = nodes
        self.is_away = False

    async def nodes(self) -> list[Node]:
        if self.is_away:
            raise UnavailableError("the cluster does not answer")
        return list(self._nodes)

    async def watch(self, *_: Any) -> "Cluster":
        return self

    async def updates(self, _after: int) -> AsyncIterator[Update]:
        yield Update((SICK,))

    async def client(self) -> "Cluster":
        return self


def backend(home: Path, cluster: Cluster) -> KubernetesBackend:
    (home / "config").write_text(KUBECONFIG)
    file = str(home / "config")
    made = KubernetesBackend(BackendSettings(home, "test", (file,)), {})
    known: Any = made._clusters
    known[(file,), "test"] = cluster
    return made


def affinity(made: KubernetesBackend) -> Json | None:
    (job,) = made.plan(workload(jobset(), jobset=jobset())).children
    spec: Json = job["spec"]["template"]["spec"]
    return spec.get("affinity")


async def watched(made: KubernetesBackend) -> None:
    handle = made.plan(workload(jobset(), jobset=jobset())).handle
    assert [update.seq async for update in made.watch(handle, 3)] == [4]


def test_a_node_that_failed_one_job_is_avoided_by_all_until_it_is_taken_back(
    tmp_path: Path,
) -> None:
    cluster = Cluster(Node("n1", "Ready"), Node("n2", "Ready"))
    asyncio.run(watched(backend(tmp_path, cluster)))
    again = backend(tmp_path, cluster)
    assert affinity(again) is not None
    sick, sound = asyncio.run(again.nodes())
    assert (sick.drained, sound.drained) == (f"its health check failed: {WHY}", "")
    assert sick.drained_by.startswith("job ")
    cluster.is_away = True
    asyncio.run(again.undrain("n1"))
    assert affinity(again) is None


def test_a_node_that_the_cluster_lost_is_avoided_no_longer(tmp_path: Path) -> None:
    made = backend(tmp_path, Cluster(Node("n1", "Ready")))
    asyncio.run(watched(made))
    for cluster, is_avoided in ((Cluster(), True), (Cluster(Node("n2", "Ready")), False)):
        later = backend(tmp_path, cluster)
        asyncio.run(later._forget_gone(later._infra()))
        assert (affinity(later) is not None) is is_avoided


def test_the_last_node_that_could_run_it_is_left_to_other_jobs(tmp_path: Path) -> None:
    here, other = workload(jobset(), jobset=jobset()), "01other"
    cordoned = Node("n2", "Ready", "it is cordoned", gpus=4)
    nodes = (Node("n1", "Ready", gpus=4), cordoned, Node("n3", "Ready"))
    made = backend(tmp_path, Cluster(*nodes))
    asyncio.run(watched(made))
    again = backend(tmp_path, Cluster(*nodes))
    assert affinity(again) is not None, "the job itself would only find out the same"
    assert again._avoided("test").names(other) == []
    assert [node.drained for node in asyncio.run(again.nodes())] == ["", "", ""]
    assert again._avoided("test").names(here.id) == ["n1"]


@pytest.mark.parametrize("is_cordoned", [True, False])
def test_only_a_node_that_is_cordoned_is_uncordoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_cordoned: bool
) -> None:
    cordoned: list[str] = []

    async def cordon(_client: object, _context: str, node: str, **_: bool) -> None:
        cordoned.append(node)

    monkeypatch.setattr("trainway.backends.kubernetes.cordon.cordon", cordon)
    why = "it is cordoned" if is_cordoned else ""
    made = backend(tmp_path, Cluster(Node("n1", "Ready", drained=why), Node("n2", "Ready")))
    asyncio.run(watched(made))
    asyncio.run(made.undrain("n1"))
    assert cordoned == (["n1"] if is_cordoned else [])
