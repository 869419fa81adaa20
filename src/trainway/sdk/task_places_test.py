from dataclasses import dataclass

import pytest

from trainway.api.task.task_file import parse
from trainway.sdk.task_places import TaskPlaces, for_place, task_places


@dataclass(frozen=True)
class Case:
    name: str
    resources: str
    wanted: TaskPlaces


CASES = [
    Case("none", "{cpus: 2}", TaskPlaces()),
    Case("one", "{infra: slurm/hpc/gpu}", TaskPlaces(("slurm/hpc/gpu",))),
    Case("this-machine", "{infra: local}", TaskPlaces(("local",))),
    Case("old-spelling", "{cloud: kubernetes, region: dev}", TaskPlaces(("k8s/dev",))),
    Case("a-cloud", "{infra: aws/us-east-1}", TaskPlaces(("aws/us-east-1",))),
    Case("a-zone", "{cloud: aws, zone: us-east-1a}", TaskPlaces(("aws/*/us-east-1a",))),
    Case("a-cloud-without-provider", "{infra: ibm}", TaskPlaces()),
    Case("wildcard", "{infra: ssh/*}", TaskPlaces(("ssh",))),
    Case(
        "any-of",
        "{any_of: [{infra: k8s/a}, {infra: ssh/lab}, {infra: aws}, {infra: k8s/a, cpus: 4}]}",
        TaskPlaces(("k8s/a", "ssh/lab", "aws")),
    ),
    Case(
        "ordered",
        "{ordered: [{infra: slurm/b}, {infra: local}]}",
        TaskPlaces(("slurm/b", "local"), is_ordered=True),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_task_names_its_places(case: Case) -> None:
    file = parse(f"run: x\nresources: {case.resources}").file
    assert file is not None
    assert task_places(file.tasks) == case.wanted


def test_several_tasks_name_no_place_for_all_of_them() -> None:
    file = parse("run: x\nresources: {infra: local}\n---\nrun: y").file
    assert file is not None
    assert task_places(file.tasks) == TaskPlaces()


TEXT = """
run: x
num_nodes: 2
envs: {A: b}
resources:
  memory: 3
  ordered:
  - {infra: slurm/b, cpus: 4}
  - {infra: local, cpus: 1}
  - {cpus: 8}
"""


@pytest.mark.parametrize(
    ("on", "cpus"), [("slurm/b", 4), ("local", 1), ("ssh/lab", 8), (None, 4)], ids=str
)
def test_each_place_gets_the_candidate_that_is_for_it(on: str | None, cpus: int) -> None:
    file = parse(TEXT).file
    assert file is not None
    (task,) = for_place(file, on).tasks
    first = task.resources.first
    assert (str(first.fields["cpus"]), first.fields["memory"]) == (str(cpus), 3)
    assert (task.num_nodes, task.envs) == (2, {"A": "b"})


def test_a_cloud_gets_all_candidates_that_are_for_it_and_as_large() -> None:
    text = (
        "run: x\nresources: {any_of: [{infra: aws, accelerators: A100:8},"
        " {infra: aws, accelerators: H100:8, use_spot: true}, {infra: aws, accelerators: L4:1},"
        " {infra: local}]}"
    )
    file = parse(text).file
    assert file is not None
    (task,) = for_place(file, "aws").tasks
    found = [(str(each.accelerator), each.use_spot) for each in task.resources.candidates]
    assert found == [("A100:8", False), ("H100:8", True)]
    assert not task.resources.is_ordered
