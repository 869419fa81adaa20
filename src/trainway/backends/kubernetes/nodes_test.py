"""Nodes and pods as an API server lists them."""

import asyncio
from types import SimpleNamespace
from typing import Any, Self, cast

import pytest

from trainway.backends.kubernetes.capacity_test import H100, node, pod
from trainway.backends.kubernetes.cluster import KubernetesCluster
from trainway.backends.kubernetes.nodes import nodes_of
from trainway.backends.kubernetes.queue_states import read_states
from trainway.backends.nodes import Node
from trainway.errors import TrainwayError
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json
from trainway.kube import resources
from trainway.kube.client import Client
from trainway.kube.errors import ObjectNotFound, Refused
from trainway.kube.resources import Resource

Q = Quantity.parse


def test_a_node_has_what_its_pods_leave() -> None:
    nodes = [
        node("b", {}, cpu="2", memory="1Gi"),
        node("a", H100, cpu="8", memory="64Gi", nvidia_com__gpu="4"),
    ]
    pods = [
        pod("a", cpu="500m", memory="4Gi", nvidia_com__gpu="3"),
        pod("a", phase="Failed", cpu="4", nvidia_com__gpu="1"),
        pod("b", cpu="3"),
    ]
    assert nodes_of(nodes, pods) == [
        Node("a", "Ready", "", "H100", Q(8), Q("7500m"), Q("64Gi"), Q("60Gi"), 4, 1),
        Node("b", "Ready", "", "", Q(2), Q(0), Q("1Gi"), Q("1Gi"), 0, 0),
    ]


def _told(made: Json) -> tuple[str, str, Quantity]:
    (found,) = nodes_of([made], [])
    return found.state, found.problem, found.free_cpus


def test_a_node_that_takes_no_pods_says_why() -> None:
    cordoned = node("a", {}, cpu="8")
    cordoned["spec"]["unschedulable"] = True
    assert _told(cordoned) == (
        "Ready", "it is cordoned: kubectl uncordon lets pods come again", Q(8)
    )  # fmt: skip
    assert nodes_of([cordoned], [])[0].drained == "it is cordoned"
    lost = node("a", {}, cpu="8")
    silent = "Kubelet stopped posting node status."
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown", "message": silent}]
    assert _told(lost) == ("NotReady", silent, Q(8))
    new = node("a", {}, cpu="8")
    new["status"]["conditions"] = []
    assert _told(new)[0] == "NotReady"


class _Api:
    """Answers lists, and notes what was asked for."""

    def __init__(self, **lists: list[Json] | Exception) -> None:
        self.lists = lists
        self.asked: list[str] = []

    async def __aenter__(self) -> Self:
        return self

    async def list(self, resource: Resource, namespace: str = "", **more: str) -> Any:
        selector = f"?{more['field_selector']}" if more.get("field_selector") else ""
        self.asked.append(f"{namespace}/{resource.plural}{selector}")
        found = self.lists.get(resource.plural, [])
        if isinstance(found, Exception):
            raise found
        return SimpleNamespace(items=found)

    async def raw(self, method: str, path: str) -> Json:
        self.asked.append(f"{method} {path}")
        if "v1beta2" in path and "localqueues" not in path:
            raise ObjectNotFound("no such API", status=404)
        return {"items": [{"metadata": {"name": "w1"}}]}


def test_nodes_and_the_pods_that_hold_something_are_listed() -> None:
    api = _Api(nodes=[node("a", {}, cpu="8")], pods=[pod("a", cpu="3")])
    cluster = KubernetesCluster((), "test", lambda *_: cast("Client", api))
    (found,) = asyncio.run(cluster.nodes())
    assert found.free_cpus == Q(5)
    holding = "status.phase!=Succeeded,status.phase!=Failed"
    assert api.asked == ["/nodes", f"/pods?{holding}"]


def test_whoever_may_not_see_nodes_is_told_so() -> None:
    api = _Api(nodes=Refused("nodes is forbidden", status=403))
    cluster = KubernetesCluster((), "test", lambda *_: cast("Client", api))
    with pytest.raises(TrainwayError, match="forbidden"):
        asyncio.run(cluster.nodes())


def test_only_queues_in_which_somebody_waits_are_asked_for_their_order() -> None:
    def queue(name: str, pending: int) -> Json:
        metadata = {"name": name, "namespace": "ml"}
        return {"metadata": metadata, "status": {"pendingWorkloads": pending}}

    waiting = {"metadata": {"name": "w1", "namespace": "ml"}, "spec": {"queueName": "team"}}
    api = _Api(localqueues=[queue("team", 1), queue("idle", 0)], workloads=[waiting])
    idle, team = asyncio.run(read_states(cast("Client", api), "ml"))
    assert (idle.waiting, [waiter.name for waiter in team.waiting]) == ((), ["w1"])
    group = "/apis/visibility.kueue.x-k8s.io"
    place = "namespaces/ml/localqueues/team/pendingworkloads?limit=1000"
    assert api.asked == [
        "ml/localqueues", "/clusterqueues", "ml/workloads",
        f"GET {group}/v1beta2", f"GET {group}/v1beta1", f"GET {group}/v1beta1/{place}",
    ]  # fmt: skip
    assert asyncio.run(read_states(cast("Client", _Api()), "ml")) == []
    assert resources.LOCAL_QUEUES.plural == "localqueues"
