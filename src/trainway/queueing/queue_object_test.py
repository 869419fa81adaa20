from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.json_types import Json
from trainway.queueing.queue_object import errors, policy_of, spec_of
from trainway.queueing.queue_policy import Eviction, Preemption, QueuePolicy


def queue(**spec: Any) -> Json:
    metadata = {"name": "team"}
    return {"apiVersion": "trainway.dev/v1", "kind": "Queue", "metadata": metadata, "spec": spec}


@dataclass(frozen=True)
class Case:
    name: str
    spec: Json
    policy: QueuePolicy = field(default_factory=lambda: QueuePolicy("team"))


CASES = [
    Case("nothing is limited", {}),
    Case(
        "amounts",
        {"quota": {"cpu": "1500m", "memory": "3Gi", "gpu": 8, "gpu:H100": 4, "jobs": 20}},
        QueuePolicy(
            "team",
            {"cpu": 1500, "memory": 3 << 30, "gpu": 8, "gpu:H100": 4, "jobs": 20},
        ),
    ),
    Case("memory that reads badly", {"quota": {"memory": "1000001"}},
         QueuePolicy("team", {"memory": 1000001})),
    Case("a part of a byte is one", {"quota": {"memory": "500m"}},
         QueuePolicy("team", {"memory": 1})),
    Case(
        "everything else",
        {
            "quota": {"gpu": 4}, "cohort": "lab", "borrowing": {"gpu": 0}, "weight": 2,
            "preemption": "any", "reclaims": True, "eviction": "requeue",
            "gracePeriodSeconds": 0, "gpuHoursPerMonth": 0,
        },
        QueuePolicy(
            "team", {"gpu": 4}, 0, "lab", {"gpu": 0}, 2, Preemption.ANY, reclaims=True,
            eviction=Eviction.REQUEUE, grace_s=0,
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_queue_is_read_and_written(case: Case) -> None:
    assert errors(queue(**case.spec)) == []
    assert policy_of("team", case.spec) == case.policy
    assert policy_of("team", spec_of(case.policy)) == case.policy


@dataclass(frozen=True)
class Wrong:
    name: str
    obj: Any
    said: list[str]


WRONG = [
    Wrong("no object", [], ["Invalid value: []: must be an object"]),
    Wrong("nothing", {}, ["apiVersion: Required value", "kind: Required value",
                          "metadata: Required value"]),
    Wrong("another kind", {**queue(), "kind": "LocalQueue"}, ["kind: Unsupported value"]),
    Wrong("a name that is none", {**queue(), "metadata": {"name": "A b"}},
          ['metadata.name: Invalid value: "A b": must be small letters']),
    Wrong("a field that there is not", queue(quotas={}),
          ['spec.quotas: Unknown field: did you mean "quota"?']),
    Wrong("no quantity", queue(quota={"cpu": "x"}),
          ['spec.quota.cpu: Invalid value: "x": must be a quantity']),
    Wrong("half a GPU", queue(quota={"gpu": 0.5}),
          ["spec.quota.gpu: Invalid value: 0.5: must be a whole number"]),
    Wrong("no resource", queue(quota={"tpu": 1}),
          ["spec.quota.tpu: Invalid value: 1: is no resource of queues"]),
    Wrong("a negative one", queue(quota={"cpu": "-1"}),
          ['spec.quota.cpu: Invalid value: "-1": must not be negative']),
    Wrong("nobody to borrow from", queue(quota={"gpu": 1}, borrowing={"gpu": 1}),
          ['spec.borrowing: Invalid value: {"gpu":1}: needs a cohort']),
    Wrong("nothing to go beyond", queue(cohort="lab", borrowing={"gpu:H100": 1}),
          ["spec.borrowing[gpu:H100]: Invalid value: 1: has no quota to go beyond"]),
    Wrong("a word that is none", queue(preemption="Sometimes"),
          ['spec.preemption: Unsupported value: "Sometimes"']),
    Wrong("a grace period without end", queue(gracePeriodSeconds=2**63),
          ["spec.gracePeriodSeconds: Invalid value: 9223372036854775808: must be less than or"]),
    Wrong("weightless", queue(weight=0), ["spec.weight: Invalid value: 0: must be greater than 0"]),
]  # fmt: skip


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.name)
def test_each_wrong_field_is_named(case: Wrong) -> None:
    found = [str(error) for error in errors(case.obj)]
    assert len(found) == len(case.said), found
    for error, said in zip(found, case.said, strict=True):
        assert error.startswith(said)
