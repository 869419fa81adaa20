"""What is read from the environment of a batch script, and where pods go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from trainway.agent.base.plan import Plan
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.slurm.allocation import (
    AllocationError,
    Part,
    counts,
    parts,
    places,
)
from trainway.json_types import Json


@dataclass(frozen=True)
class Counts:
    text: str
    expected: list[int]


@pytest.mark.parametrize(
    "case",
    [
        Counts("", []),
        Counts("1", [1]),
        Counts("2(x3),1", [2, 2, 2, 1]),
        Counts("4,2(x2)", [4, 2, 2]),
        Counts("many", []),
    ],
    ids=lambda case: case.text or "none",
)
def test_counts(case: Counts) -> None:
    assert counts(case.text) == case.expected


def test_one_part() -> None:
    environ = {"SLURM_JOB_NODELIST": "a,b", "SLURM_TASKS_PER_NODE": "2,1"}
    (part,) = parts(environ, lambda listed: listed.split(","))
    assert part.slots == ["a", "a", "b"]


def test_parts_of_a_heterogeneous_job() -> None:
    environ = {
        "SLURM_HET_SIZE": "2",
        "SLURM_JOB_NODELIST": "a",
        "SLURM_JOB_NODELIST_HET_GROUP_0": "a",
        "SLURM_TASKS_PER_NODE_HET_GROUP_0": "1",
        "SLURM_JOB_NODELIST_HET_GROUP_1": "b,c",
        "SLURM_TASKS_PER_NODE_HET_GROUP_1": "2(x2)",
    }
    found = parts(environ, lambda listed: listed.split(","))
    assert [part.slots for part in found] == [["a"], ["b", "b", "c", "c"]]


def test_room_that_is_not_told_is_one_task_a_node() -> None:
    (part,) = parts({"SLURM_JOB_NODELIST": "a,b"}, lambda listed: listed.split(","))
    assert part.slots == ["a", "b"]


def test_outside_of_an_allocation() -> None:
    with pytest.raises(AllocationError, match="SLURM_JOB_NODELIST is not set"):
        parts({}, lambda listed: [listed])


@dataclass(frozen=True)
class Places:
    id: str
    roles: list[Json]
    parts: list[Part]
    expected: dict[str, str]
    settings: Json = field(default_factory=dict)


def of(name: str, pods: int, **more: Any) -> Json:
    more = {"completions": pods, **more}
    return role(name, container("main", "true"), parallelism=pods, **more)


@pytest.mark.parametrize(
    "case",
    [
        Places(
            "one role",
            [of("node", 3)],
            [Part(["a", "b"], [2, 1])],
            {"node-0-0": "a", "node-0-1": "a", "node-0-2": "b"},
        ),
        Places(
            "Jobs of a role follow each other",
            [of("node", 1, replicas=2)],
            [Part(["a", "b"], [1, 1])],
            {"node-0-0": "a", "node-1-0": "b"},
        ),
        Places(
            "roles in parts of their own",
            [of("head", 1), of("node", 2)],
            [Part(["a"], [1]), Part(["b", "c"], [1, 1])],
            {"head-0-0": "a", "node-0-0": "b", "node-0-1": "c"},
            {"head": {"group": 0}, "node": {"group": 1}},
        ),
        Places(
            "a launcher sits beside the first worker",
            [of("launcher", 1), of("node", 2)],
            [Part(["a", "b"], [1, 1])],
            {"launcher-0-0": "a", "node-0-0": "a", "node-0-1": "b"},
            {"launcher": {"overlap": True}},
        ),
        Places(
            "a role that runs later has the same places",
            [of("first", 2), of("second", 2)],
            [Part(["a", "b"], [1, 1])],
            {"first-0-0": "a", "first-0-1": "b", "second-0-0": "a", "second-0-1": "b"},
        ),
        Places(
            "more completions than pods at once",
            [of("node", 2, completions=5)],
            [Part(["a"], [2])],
            {"node-0-0": "a", "node-0-1": "a"},
        ),
    ],
    ids=lambda case: case.id,
)
def test_places(case: Places) -> None:
    plan = Plan({"version": 1, "id": "x", "name": "x", "jobset": jobset(*case.roles)})
    assert places(plan, case.settings, case.parts) == case.expected
