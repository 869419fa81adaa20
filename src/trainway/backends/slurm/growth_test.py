from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.backends.slurm.growth import warnings
from trainway.backends.slurm.layout import layout_of
from trainway.backends.slurm.testing import jobset, role
from trainway.jobset.labels import MIN_NODES
from trainway.json_types import Json


def elastic(*more: Json) -> Json:
    made = jobset(role("node", pods=4), *more)
    made["spec"]["replicatedJobs"][0]["template"]["metadata"] = {"annotations": {MIN_NODES: "2"}}
    return made


@dataclass(frozen=True)
class Case:
    name: str
    why: str = ""
    jobset: Json = field(default_factory=elastic)
    options: dict[str, Any] = field(default_factory=dict)
    one_per_node: bool = True
    shared: bool = True


CASES = [
    Case("it grows"),
    Case("it is not elastic", jobset=jobset(role("node")), shared=False),
    Case(
        "no shared files", "the nodes of the cluster share no files (shared: false)", shared=False
    ),
    Case("packed", "its pods may share nodes", one_per_node=False),
    Case(
        "nodes are named",
        "the option nodelist of Slurm says which nodes it has",
        options={"nodelist": "a,b"},
    ),
    Case(
        "roles that differ",
        "its roles ask for different nodes",
        jobset=elastic(role("big", cpu="64")),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_that_a_job_does_not_grow_is_said_with_the_reason(case: Case) -> None:
    layout = layout_of(case.jobset, one_per_node=case.one_per_node)
    said = warnings(case.jobset, layout, case.options, shared=case.shared)
    start = "role node: it has the nodes that Slurm gives it at its start, and gets no more"
    wanted = f"{start} while it runs, since {case.why}; one that is lost is not replaced until the "
    assert said == ([f"{wanted}whole job is requeued"] if case.why else [])
