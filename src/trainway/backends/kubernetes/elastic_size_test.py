"""Which Jobs of an elastic job are given another size."""

from dataclasses import dataclass, field

import pytest

from trainway.backends.kubernetes.elastic_size import wrong_sizes
from trainway.backends.kubernetes.testing import plain_job
from trainway.jobset.labels import MIN_NODES, REPLICATED_JOB_NAME
from trainway.json_types import Json


def sized(nodes: int, **metadata: object) -> Json:
    """A Job of that many nodes, which may do with two."""
    marks = {"labels": {REPLICATED_JOB_NAME: "node"}, "annotations": {MIN_NODES: "2"}}
    spec = {"parallelism": nodes, "completions": nodes}
    return plain_job(spec=spec, metadata={**marks, **metadata})


@dataclass(frozen=True)
class Case:
    name: str
    job: Json
    most: int
    expected: dict[str, int] = field(default_factory=dict)


CASES = [
    Case("fewer", sized(4), 3, {"demo-node-0": 3}),
    Case("more again", sized(3), 4, {"demo-node-0": 4}),
    Case("never below the minimum", sized(4), 1, {"demo-node-0": 2}),
    Case("never above all", sized(3), 9, {"demo-node-0": 4}),
    Case("a minimum that is none", sized(4, annotations={MIN_NODES: "²"}), 1, {"demo-node-0": 1}),
    Case("as it should be", sized(3), 3),
    Case("another role", plain_job("launcher"), 3),
    Case("a Job that goes", sized(4, deletionTimestamp="2026-11-15T05:00:00Z"), 3),
    Case("a Job that is over", sized(4) | {"status": plain_job(end="Failed")["status"]}, 3),
    Case(
        "one that only lacks pods",
        sized(4) | {"spec": {"parallelism": 3, "completions": 4}},
        4,
        {"demo-node-0": 4},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_jobs_that_have_another_size_than_they_may(case: Case) -> None:
    assert wrong_sizes([case.job], {"node": 4}, case.most) == case.expected
