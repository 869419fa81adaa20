from dataclasses import dataclass

import pytest

from trainway.backends.node_sharing import apart, most_nodes, one_per_node
from trainway.backends.pod_demand import pod_demands
from trainway.backends.slurm.testing import jobset, role
from trainway.compiler.packing import with_packing
from trainway.jobset.labels import PACK


@dataclass(frozen=True)
class Case:
    kind: str
    said: str | None
    is_spread: bool


@pytest.mark.parametrize(
    "case",
    [
        Case("JobSet", None, is_spread=False),
        Case("JobSet", "false", is_spread=True),
        Case("TrainJob", None, is_spread=True),
        Case("Task", None, is_spread=True),
        Case("TrainJob", "true", is_spread=False),
        Case("MPIJob", None, is_spread=False),
        Case("MPIJob", "false", is_spread=True),
    ],
)
def test_who_asks_for_nodes_gets_machines(case: Case) -> None:
    annotations = {} if case.said is None else {PACK: case.said}
    source = {"kind": case.kind, "metadata": {"annotations": annotations}}
    assert one_per_node(source, {}) is case.is_spread


def test_only_those_that_run_together_are_apart() -> None:
    made = jobset(role("first"), role("node", pods=3, cpu=1))
    words = apart({"kind": "TrainJob"}, made)
    assert words == {"node": "node"}
    demand = pod_demands(made, words)
    assert [item.get("apart", "") for item in demand] == ["", "node", "node", "node"]
    assert most_nodes(demand) == 3
    assert apart(with_packing({"kind": "TrainJob"}, pack=True), made) == {}


def test_a_launcher_that_runs_ranks_is_a_node() -> None:
    made = jobset(role("launcher"), role("worker"))
    hosts = "demo-launcher-0-0.demo slots=1\ndemo-worker-0-0.demo slots=1\n"
    hostfile = {"kind": "ConfigMap", "data": {"hostfile": hosts}}
    assert apart({"kind": "TrainJob"}, made) == {}
    words = apart({"kind": "TrainJob"}, made, [hostfile])
    assert words == {"launcher": "worker", "worker": "worker"}
