import json
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.backends.slurm.layout import Part, Shape, gpu_types, layout_of
from trainway.backends.slurm.testing import jobset, role
from trainway.json_types import Json

GPU = "nvidia.com/gpu"


def after(made: Json, *others: str, status: str = "Complete") -> Json:
    return {**made, "dependsOn": [{"name": name, "status": status} for name in others]}


@dataclass(frozen=True)
class Case:
    name: str
    roles: list[Json]
    parts: list[Part]
    where: list[int]
    """The part of each role."""


@pytest.mark.parametrize(
    "case",
    [
        Case("one role", [role("a", pods=3, cpu=2)], [Part(3, Shape(cpus=2))], [0]),
        Case("replicas", [role("a", pods=3, replicas=2)], [Part(6, Shape())], [0]),
        Case(
            "a fraction of a CPU is a CPU, and of a MiB a MiB",
            [role("a", cpu="100m", memory="1")],
            [Part(1, Shape(cpus=1, memory=1))],
            [0],
        ),
        Case("the same shape", [role("a", pods=2), role("b")], [Part(3, Shape())], [0, 0]),
        Case(
            "other shapes",
            [role("a", cpu=1), role("b", pods=2, cpu=1, **{GPU: 2})],
            [Part(1, Shape(cpus=1)), Part(2, Shape(cpus=1, gpus=2))],
            [0, 1],
        ),
        Case(
            "one after the other",
            [role("get"), after(role("train", pods=2, cpu=8, **{GPU: 1}), "get")],
            [Part(2, Shape(cpus=8, gpus=1))],
            [0, 0],
        ),
        Case(
            "more pods before than after",
            [role("get", pods=4), after(role("train", cpu=8), "get")],
            [Part(4, Shape(cpus=8))],
            [0, 0],
        ),
        Case(
            "readiness is not the end",
            [role("serve"), after(role("train", cpu=8), "serve", status="Ready")],
            [Part(1, Shape()), Part(1, Shape(cpus=8))],
            [0, 1],
        ),
        Case(
            "the first asks for more memory than the second has",
            [role("get", memory="8Gi"), after(role("train", **{GPU: 1}, memory="1Gi"), "get")],
            [Part(1, Shape(memory=8192)), Part(1, Shape(gpus=1, memory=1024))],
            [0, 1],
        ),
        Case(
            "a launcher sits beside its workers",
            [role("launcher"), role("worker", pods=2, cpu=4)],
            [Part(2, Shape(cpus=4))],
            [0, 0],
        ),
        Case(
            "unless it asks for something",
            [role("launcher", cpu=1), role("worker", pods=2, cpu=4)],
            [Part(1, Shape(cpus=1)), Part(2, Shape(cpus=4))],
            [0, 1],
        ),
        Case("or is alone", [role("launcher")], [Part(1, Shape())], [0]),
        Case("no pods", [role("a", replicas=0)], [], []),
    ],
    ids=lambda case: case.name,
)
def test_roles_share_what_they_can(case: Case) -> None:
    layout = layout_of(jobset(*case.roles), one_per_node=False)
    assert list(layout.parts) == case.parts
    assert [step.part for step in layout.steps] == case.where
    assert layout.is_heterogeneous == (len(case.parts) > 1)


def test_a_step_is_one_job_of_its_role() -> None:
    made = role("a", pods=3, replicas=2)
    made["template"]["spec"]["completions"] = 9
    (step,) = layout_of(jobset(made), one_per_node=False).steps
    assert step.pods == 3


def test_only_the_launcher_takes_nothing() -> None:
    layout = layout_of(jobset(role("launcher"), role("worker")), one_per_node=True)
    assert [step.sits_beside for step in layout.steps] == [True, False]


def test_a_launcher_that_runs_ranks_has_a_place_of_its_own() -> None:
    roles = [role("launcher"), role("node")]
    layout = layout_of(jobset(*roles), one_per_node=True, launcher_works=True)
    assert layout.parts == (Part(2, Shape()),)
    assert not any(step.sits_beside for step in layout.steps)


def named(accelerators: Any) -> Json:
    told = {"node": {"candidates": [{"accelerators": accelerators}]}}
    return {"annotations": {"trainway.dev/candidates": json.dumps(told)}}


@pytest.mark.parametrize(
    ("metadata", "wanted"),
    [
        ({}, {}),
        (named("H100:2"), {"node": "h100"}),
        (named("A100-80GB:1"), {"node": "a100x"}),
        (named("80GB+:2"), {}),
        ({"annotations": {"trainway.dev/candidates": "[]"}}, {}),
        ({"annotations": {"trainway.dev/candidates": "[" * 5000}}, {}),
    ],
)
def test_gpus_have_the_names_of_the_cluster(metadata: Json, wanted: dict[str, str]) -> None:
    assert gpu_types(metadata, {"A100-80GB": "a100x"}) == wanted
