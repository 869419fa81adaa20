"""Whether pods have room on nodes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.backends.elastic_demand import ElasticNodes
from trainway.backends.nodes import Node
from trainway.engine.placement.node_fit import fit
from trainway.engine.placement.offer import Fit
from trainway.jobset.quantity import Quantity

if TYPE_CHECKING:
    from trainway.agent.base.plan_document import PodDemand

Q = Quantity.parse


def _node(cpus: int, free: int, gpus: int = 0, free_gpus: int = 0, problem: str = "") -> Node:
    memory = Q("64Gi")
    return Node("n", "up", problem, "", Q(cpus), Q(free), memory, memory, gpus, free_gpus)


def _pod(cpus: float = 0, gpus: float = 0, apart: str = "", memory: int = 0) -> "PodDemand":
    pod: PodDemand = {"pod": "node-0-0", "cpus": cpus, "memory": memory, "gpus": gpus}
    return {**pod, "apart": apart} if apart else pod


@dataclass(frozen=True)
class Case:
    what: str
    pods: "list[PodDemand]"
    nodes: list[Node]
    fit: Fit
    reason: str


CASES = [
    Case("room", [_pod(2)], [_node(4, 4)], Fit.NOW, "all of it fits on 1 node now"),
    Case("nothing asked", [_pod()], [_node(4, 0)], Fit.NOW, "all of it fits on 1 node now"),
    Case(
        "busy",
        [_pod(2)],
        [_node(4, 1)],
        Fit.LATER,
        "there is no room now for a node of the job with 2 CPUs",
    ),
    Case(
        "the sum would do, no node does",
        [_pod(6)],
        [_node(4, 4), _node(4, 4)],
        Fit.NEVER,
        "no node there has room for a node of the job with 6 CPUs",
    ),
    Case(
        "nodes apart",
        [_pod(1, apart="node"), _pod(1, apart="node")],
        [_node(8, 8)],
        Fit.NEVER,
        "no node there has room for a node of the job with 1 CPU, a node of its own",
    ),
    Case(
        "nodes that may share",
        [_pod(1), _pod(1)],
        [_node(8, 8)],
        Fit.NOW,
        "all of it fits on 1 node now",
    ),
    Case(
        "GPUs in use",
        [_pod(gpus=2), _pod(gpus=2)],
        [_node(8, 8, 4, 1)],
        Fit.LATER,
        "there is no room now for 2 nodes of the job, the largest with 2 GPUs",
    ),
    Case(
        "a part of a GPU",
        [_pod(gpus=0.5)],
        [_node(1, 1, 1, 1)],
        Fit.NOW,
        "all of it fits on 1 node now",
    ),
    Case(
        "a node that is drained",
        [_pod(8)],
        [_node(2, 2), _node(8, 8, problem="drained")],
        Fit.LATER,
        "it needs 1 node that takes no jobs now",
    ),
    Case(
        "all are drained",
        [_pod(1)],
        [_node(8, 8, problem="drained by ada")],
        Fit.UNKNOWN,
        "its node takes no jobs now: drained by ada",
    ),
    Case("no nodes", [_pod(1)], [], Fit.NEVER, "it has no nodes"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_pods_fit_or_do_not(case: Case) -> None:
    assert fit(case.pods, case.nodes) == (case.fit, case.reason)


def _named(key: str, cpus: float) -> "PodDemand":
    return {**_pod(cpus), "pod": key}


@dataclass(frozen=True)
class ElasticCase:
    what: str
    nodes: list[Node]
    begins_smaller: bool
    fit: Fit
    reason: str


_LACK = "there is no room now for {}with 2 CPUs"
ELASTIC_CASES = [
    ElasticCase("all", [_node(8, 8)], True, Fit.NOW, "all of it fits on 1 node now"),
    ElasticCase(
        "enough", [_node(8, 4)], True, Fit.NOW,
        "2 of its 4 nodes fit now, and others join when there is room",
    ),
    ElasticCase(
        "too few", [_node(8, 3)], True, Fit.LATER, _LACK.format("3 nodes of the job, the largest ")
    ),
    ElasticCase(
        "enough, in a queue that waits for all", [_node(4, 4)], False, Fit.LATER,
        _LACK.format("2 nodes of the job, the largest "),
    ),
    ElasticCase(
        "never enough", [_node(2, 2)], True, Fit.NEVER,
        "no node there has room for 3 nodes of the job, the largest with 2 CPUs",
    ),
    ElasticCase(
        "enough with one that is closed", [_node(2, 2), _node(2, 2, problem="drained")], True,
        Fit.LATER, "it needs 1 node that takes no jobs now",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", ELASTIC_CASES, ids=lambda case: case.what)
def test_an_elastic_gang_does_with_fewer_nodes(case: ElasticCase) -> None:
    pods = [_named(f"node-0-{index}", 2) for index in range(4)]
    elastic = ElasticNodes("node", 4, 2, 4)
    found = fit(pods, case.nodes, elastic, begins_smaller=case.begins_smaller)
    assert found == (case.fit, case.reason)


def test_a_gang_begins_without_no_other_role() -> None:
    pods = [_named("helper-0-0", 4), _named("node-0-0", 1)]
    elastic = ElasticNodes("node", 2, 1, 2)
    assert fit(pods, [_node(2, 2)], elastic, begins_smaller=True)[0] is Fit.NEVER


@given(
    st.lists(st.integers(0, 4), max_size=6),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=4),
)
def test_what_is_said_to_fit_does(pods: list[int], nodes: list[tuple[int, int]]) -> None:
    """No more is placed than there is, and an empty place is never worse than a busy one."""
    found, _ = fit([_pod(cpus) for cpus in pods], [_node(max(n), min(n)) for n in nodes])
    if found is Fit.NOW:
        assert sum(pods) <= sum(min(node) for node in nodes)
        assert max(pods, default=0) <= max(min(node) for node in nodes)
    if found is Fit.NEVER:
        assert pods
        again, _ = fit([_pod(cpus) for cpus in pods], [_node(max(n), max(n)) for n in nodes])
        assert again is Fit.NEVER
