"""JAX, XGBoost and plain ML: what each puts on the container that trains."""

from dataclasses import dataclass, field

import pytest

from trainway.compiler.testing import compiled, env, messages, node, pods, runtime, trainjob
from trainway.json_types import Json

GPUS = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 2}}}
RANK = {
    "fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
}


@dataclass(frozen=True)
class Case:
    name: str
    policy: Json
    variables: Json
    trainer: Json = field(default_factory=lambda: {"numNodes": 4})


CASES = [
    Case(
        "jax",
        {"jax": {}},
        {
            "JAX_NUM_PROCESSES": "4",
            "JAX_PROCESS_ID": RANK,
            "JAX_COORDINATOR_ADDRESS": "t-node-0-0.t:29500",
        },
    ),
    Case(
        "xgboost has a worker per GPU",
        {"xgboost": {}},
        {
            "DMLC_TRACKER_URI": "t-node-0-0.t",
            "DMLC_TRACKER_PORT": "29500",
            "DMLC_TASK_ID": RANK,
            "DMLC_NUM_WORKER": "8",
        },
        {"numNodes": 4, **GPUS},
    ),
    Case("plain", {}, {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_variables(case: Case) -> None:
    outcome = compiled(runtime(case.policy), trainjob(case.trainer))
    assert env(node(outcome)) == case.variables
    assert pods(outcome) == {"node": 4}


@pytest.mark.parametrize(
    ("policy", "trainer", "count"),
    [
        ({"numNodes": 3}, {}, 3),
        ({"numNodes": 3}, {"numNodes": 0}, 0),
        ({"numNodes": 3}, {"numNodes": 5}, 5),
        (None, {"numNodes": 5}, 5),
        (None, {}, 1),
        ({}, {}, 1),
    ],
)
def test_number_of_nodes(policy: Json | None, trainer: Json, count: int) -> None:
    assert pods(compiled(runtime(policy), trainjob(trainer))) == {"node": count}


def test_xgboost_names_each_reserved_variable_where_it_stands() -> None:
    names = ["MINE", "DMLC_TRACKER_URI"]
    job = trainjob({"env": [{"name": name, "value": "x"} for name in names]})
    assert messages(runtime({"xgboost": {}}), job) == [
        "spec.trainer.env[1]: Forbidden: DMLC_TRACKER_URI is reserved for the XGBoost runtime"
    ]
