from dataclasses import dataclass
from typing import Any

import pytest

from trainway.api.mpijob_wishes import MPIJobWishes, mpijob_of
from trainway.api.node_count import is_countable, with_nodes
from trainway.errors import UsageError
from trainway.jobset.labels import MAX_NODES, MIN_NODES
from trainway.json_types import Json

MPIJOB = mpijob_of(MPIJobWishes(name="m", image="i", command="./run", workers=2))
INTEL = mpijob_of(
    MPIJobWishes(name="m", image="i", command="./run", workers=2, mpi_implementation="Intel")
)
TRAINJOB = {"kind": "TrainJob", "spec": {"runtimeRef": {"name": "torch-distributed"}}}
TASK = {"kind": "Task", "spec": {"tasks": [{"task": {"run": "true", "num_nodes": 2}}]}}


def jobset(*roles: Json) -> Json:
    """A JobSet whose Jobs have these specs."""
    jobs = [{"name": f"r{index}", "template": {"spec": role}} for index, role in enumerate(roles)]
    return {"kind": "JobSet", "spec": {"replicatedJobs": jobs}}


def at(value: Any, *path: str | int) -> Any:
    for step in path:
        value = value[step]
    return value


@dataclass(frozen=True)
class Case:
    name: str
    job: Json
    path: tuple[str | int, ...]
    value: object = 5


ROLE = ("spec", "replicatedJobs", 0, "template", "spec")
LAUNCHER = ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec", "containers", 0, "command")


@pytest.mark.parametrize(
    "case",
    [
        Case("the trainer", TRAINJOB, ("spec", "trainer", "numNodes")),
        Case("the task", TASK, ("spec", "tasks", 0, "task", "num_nodes")),
        Case("the workers", MPIJOB, ("spec", "mpiReplicaSpecs", "Worker", "replicas")),
        Case("what mpirun is told", INTEL, (*LAUNCHER, 2), "5"),
        Case("the pods", jobset({"parallelism": 2, "completions": 2}), (*ROLE, "parallelism")),
        Case("the ends of pods", jobset({}), (*ROLE, "completions")),
    ],
    ids=lambda case: case.name,
)
def test_a_job_gets_another_number_of_nodes(case: Case) -> None:
    before = repr(case.job)
    assert is_countable(case.job)
    assert at(with_nodes(case.job, 5), *case.path) == case.value
    assert repr(case.job) == before


@pytest.mark.parametrize(
    "job",
    [
        jobset({}, {}),
        jobset({"parallelism": 2, "completions": 4}),
        {"kind": "Task", "spec": {"tasks": [{"task": {}}, {"task": {}}]}},
        {"kind": "Pod"},
    ],
)
def test_a_job_of_several_parts_has_no_such_number(job: Json) -> None:
    assert not is_countable(job)
    with pytest.raises(UsageError, match="no single number of nodes"):
        with_nodes(job, 5)


@pytest.mark.parametrize(
    ("nodes", "least", "most"), [(5, "2", "5"), (2, "2", "2"), (1, "1", "1")], ids=str
)
def test_an_elastic_job_keeps_its_minimum_where_it_can(nodes: int, least: str, most: str) -> None:
    annotations = {MIN_NODES: "2", MAX_NODES: "4", "mine": "kept"}
    scaled = with_nodes({**TRAINJOB, "metadata": {"annotations": annotations}}, nodes)
    found = scaled["metadata"]["annotations"]
    assert found == {MIN_NODES: least, MAX_NODES: most, "mine": "kept"}
    assert scaled["spec"]["trainer"]["numNodes"] == nodes
