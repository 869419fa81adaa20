"""What changes of a job that is submitted again, and what is refused."""

import copy
from dataclasses import dataclass
from typing import Any, Final

import pytest

from trainway.api.amendment import Amendment, amended
from trainway.errors import UsageError
from trainway.json_types import Json

TRAINJOB: Final[Json] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "train"},
    "spec": {
        "runtimeRef": {"name": "torch-distributed"},
        "trainer": {"numNodes": 1, "env": [{"name": "LR", "value": "0.1"}]},
    },
}
JOBSET: Final[Json] = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "set"},
    "spec": {
        "replicatedJobs": [
            {
                "name": "node",
                "template": {
                    "spec": {"template": {"spec": {"containers": [{"name": "main", "image": "x"}]}}}
                },
            }
        ]
    },
}
MPIJOB: Final[Json] = {
    "apiVersion": "kubeflow.org/v2beta1",
    "kind": "MPIJob",
    "metadata": {"name": "mpi"},
    "spec": {
        "mpiReplicaSpecs": {
            "Worker": {
                "replicas": 2,
                "template": {"spec": {"containers": [{"name": "worker", "image": "x"}]}},
            }
        }
    },
}
TASK: Final[Json] = {
    "apiVersion": "trainway.dev/v1alpha1",
    "kind": "Task",
    "metadata": {"name": "task"},
    "spec": {"tasks": [{"task": {"run": "true", "num_nodes": 1}, "secrets": []}]},
}
POD = "spec.replicatedJobs.node.template.spec.template.spec"


def at(obj: Any, *path: str | int) -> Any:
    for step in path:
        obj = obj[step]
    return obj


@dataclass(frozen=True)
class Case:
    job: Json
    setting: str
    path: tuple[str | int, ...]
    value: Any


@pytest.mark.parametrize(
    "case",
    [
        Case(TRAINJOB, "spec.trainer.numNodes=4", ("spec", "trainer", "numNodes"), 4),
        Case(
            TRAINJOB,
            "spec.trainer.env.LR.value=0.10",
            ("spec", "trainer", "env", 0, "value"),
            "0.10",
        ),
        Case(
            TRAINJOB, "spec.trainer.env[0].value=a=b", ("spec", "trainer", "env", 0, "value"), "a=b"
        ),
        Case(TRAINJOB, "spec.trainer.args=[a, 2]", ("spec", "trainer", "args"), ["a", 2]),
        Case(TRAINJOB, "spec.suspend=true", ("spec", "suspend"), True),
        Case(
            TRAINJOB,
            "metadata.labels[example.org/team]=nlp",
            ("metadata", "labels"),
            {"example.org/team": "nlp"},
        ),
        Case(
            JOBSET,
            "spec.replicatedJobs.node.replicas=3",
            ("spec", "replicatedJobs", 0, "replicas"),
            3,
        ),
        Case(
            JOBSET,
            "spec.failurePolicy.maxRestarts=2",
            ("spec", "failurePolicy"),
            {"maxRestarts": 2},
        ),
        Case(
            MPIJOB,
            "spec.mpiReplicaSpecs.Worker.replicas=5",
            ("spec", "mpiReplicaSpecs", "Worker", "replicas"),
            5,
        ),
        Case(TASK, "num_nodes=2", ("spec", "tasks", 0, "task", "num_nodes"), 2),
        Case(TASK, "resources.cpus=4+", ("spec", "tasks", 0, "task", "resources"), {"cpus": "4+"}),
    ],
    ids=lambda case: case.setting,
)
def test_a_field_is_set(case: Case) -> None:
    before = copy.deepcopy(case.job)
    changed = amended(case.job, Amendment(set=[case.setting]))
    assert at(changed, *case.path) == case.value
    assert case.job == before  # what it was made from stays as it is


def test_null_removes_a_field() -> None:
    changed = amended(TRAINJOB, Amendment(set=["spec.trainer.numNodes=null"]))
    assert "numNodes" not in changed["spec"]["trainer"]


@dataclass(frozen=True)
class Wrong:
    job: Json
    setting: str
    said: str


@pytest.mark.parametrize(
    "case",
    [
        Wrong(
            TRAINJOB,
            "spec.trainer.numNods=2",
            'spec.trainer.numNods: Unknown field: did you mean "numNodes"?',
        ),
        Wrong(TRAINJOB, "spec.trainr.numNodes=2", "spec.trainr: Unknown field"),
        Wrong(
            JOBSET, f"{POD}.containers.main.imag=y", 'imag: Unknown field: did you mean "image"?'
        ),
        Wrong(JOBSET, f"{POD}.containers.other.image=y", "has no item 'other'; it has main"),
        Wrong(JOBSET, f"{POD}.containers.7.image=y", "has no item '7'; it has main"),
        Wrong(TRAINJOB, "spec.trainer.numNodes.x=2", "spec.trainer.numNodes is a single value"),
        Wrong(TRAINJOB, "spec.trainer.numNodes={", "spec.trainer.numNodes: the value is not YAML"),
        Wrong(TRAINJOB, "kind=JobSet", "kind cannot be changed"),
        Wrong(TRAINJOB, "spec.trainer.numNodes", "is not PATH=VALUE"),
        Wrong(TRAINJOB, "=4", "is not PATH=VALUE"),
        Wrong(TRAINJOB, "spec..trainer=4", "is not PATH=VALUE"),
        Wrong(TRAINJOB, "spec[trainer=4", "is not PATH=VALUE"),
        Wrong({**TASK, "spec": {"tasks": []}}, "num_nodes=2", "the job has 0 tasks"),
    ],
    ids=lambda case: case.setting,
)
def test_what_cannot_be_set_is_refused(case: Wrong) -> None:
    with pytest.raises(UsageError) as caught:
        amended(case.job, Amendment(set=[case.setting]))
    assert case.said in caught.value.message
    assert caught.value.field == "set"


def test_variables_replace_their_namesakes() -> None:
    env = {"LR": "0.5", "MODE": "$(x)"}
    changed = amended(TRAINJOB, Amendment(env=env))
    wanted = [{"name": "LR", "value": "0.5"}, {"name": "MODE", "value": "$$(x)"}]
    assert changed["spec"]["trainer"]["env"] == wanted
    template = amended(JOBSET, Amendment(env=env))["spec"]["replicatedJobs"][0]["template"]
    assert template["spec"]["template"]["spec"]["containers"][0]["env"] == wanted
    assert amended(TASK, Amendment(env=env))["spec"]["tasks"][0]["task"]["envs"] == env


def test_a_variable_needs_a_name() -> None:
    with pytest.raises(UsageError, match="is not a name of a variable"):
        amended(TRAINJOB, Amendment(env={"A B": "1"}))
