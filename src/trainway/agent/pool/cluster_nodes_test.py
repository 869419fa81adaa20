"""The nodes of a cluster, as whoever watches it is told of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainway.agent.pool.allocation import Allocation
from trainway.agent.pool.cluster_nodes import nodes, unusable
from trainway.agent.pool.lease import LOST, SILENT, UP
from trainway.agent.pool.placement import Placement
from trainway.json_types import Json


@dataclass(frozen=True)
class FakeHost:
    state: str = UP
    address: str = "10.0.0.1"
    drained: str = ""
    notice: Json = field(default_factory=dict)


NOTICE: Json = {"at": "", "why": "preempted"}
HOSTS = {
    "a": FakeHost(),
    "b": FakeHost(LOST),
    "c": FakeHost(drained="its fan is loud", notice=NOTICE),
}
HELD = Placement({"node-0": "a", "node-1": "b", "node-2": "c", "node-3": "gone"})


def test_what_is_said_of_nodes() -> None:
    cluster = Allocation({"name": "dev", "nodes": 4, "given": True}, 0)
    assert nodes(cluster, HOSTS.get) == [], "it has none yet"
    cluster.start(HELD)
    plain: Json = {"address": "10.0.0.1", "gpus": []}
    assert nodes(cluster, HOSTS.get) == [
        {"host": "a", **plain},
        {"host": "b", **plain, "lost": True},
        {"host": "c", **plain, "notice": NOTICE},
        {"host": "gone", "address": "", "gpus": []},
    ]


def test_which_take_no_new_pods() -> None:
    hosts = {**HOSTS, "d": FakeHost(SILENT)}
    held = Placement({**HELD.hosts, "node-4": "d"})
    assert unusable(held, hosts.get) == {
        "b": "b was lost",
        "c": "c is set aside: its fan is loud",
        "d": "d does not answer",
    }
