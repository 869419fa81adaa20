"""What people see of our kinds with plain kubectl, word for word.

The outputs are kept in `kubectl_outputs/`. `TRAINWAY_UPDATE_GOLDEN=1` writes them anew; read the
difference before you commit it.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from cluster.access import Access

from trainway.json_types import Json

GOLDEN: Final = Path(__file__).parent / "kubectl_outputs"
UPDATES: Final = os.environ.get("TRAINWAY_UPDATE_GOLDEN") == "1"
TRAINER: Final = "trainer.kubeflow.org/v1alpha1"
TIME: Final = "2026-01-01T00:00:00Z"
PLACE: Final = "kubectl-outputs"


def condition(type_: str, reason: str, message: str) -> Json:
    return {
        "type": type_,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": TIME,
    }


SUSPENDED: Final = condition("Suspended", "Suspended", "TrainJob is suspended")
RESUMED: Final = SUSPENDED | {
    "status": "False",
    "reason": "Resumed",
    "message": "TrainJob is resumed",
}
COMPLETE: Final = condition("Complete", "AllJobsCompleted", "jobset completed successfully")
FAILED: Final = condition("Failed", "DeadlineExceeded", "TrainJob exceeded its active deadline")


def trainjob(name: str, **spec: Any) -> Json:
    return obj("TrainJob", name, runtimeRef={"name": "torch-distributed"}, **spec)


def obj(kind: str, name: str, api_version: str = TRAINER, **spec: Any) -> Json:
    metadata = {"name": name} | ({} if kind.startswith("Cluster") else {"namespace": PLACE})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def mpijob(name: str, **spec: Any) -> Json:
    template = {"spec": {"containers": [{"name": "mpi", "image": "mpi:1"}]}}
    roles = {"Launcher": {"template": template}, "Worker": {"replicas": 2, "template": template}}
    return obj("MPIJob", name, "kubeflow.org/v2beta1", mpiReplicaSpecs=roles, **spec)


RUNTIME: Final[Json] = {
    "mlPolicy": {"numNodes": 1, "torch": {}},
    "template": {
        "spec": {
            "replicatedJobs": [
                {
                    "name": "node",
                    "template": {
                        "spec": {
                            "template": {"spec": {"containers": [{"name": "node", "image": "i:1"}]}}
                        }
                    },
                }
            ]
        }
    },
}
SEARCH: Final[Json] = {
    "objectives": [{"metric": "loss"}],
    "numTrials": 4,
    "parameters": [
        {"name": "lr", "searchSpace": {"logUniform": {"min": "1e-5", "max": "1e-1"}}},
    ],
    "trainJobTemplate": {"spec": {"runtimeRef": {"name": "torch-distributed"}}},
}
PROGRESS: Final[Json] = {
    "progressPercentage": 45,
    "estimatedRemainingSeconds": 120,
    "metrics": [{"name": "loss", "value": "0.15"}],
    "lastUpdatedTime": TIME,
}
COUNTS: Final = {"ready": 1, "succeeded": 0, "failed": 0, "active": 1, "suspended": 0}

OBJECTS: Final[list[tuple[Json, Json]]] = [
    (
        trainjob("a-running", trainer={"image": "torch:1", "numNodes": 2, "command": ["train"]}),
        {"jobsStatus": [{"name": "node", **COUNTS}], "trainerStatus": PROGRESS},
    ),
    (trainjob("b-suspended", suspend=True), {"conditions": [SUSPENDED]}),
    (trainjob("c-complete"), {"conditions": [RESUMED, COMPLETE]}),
    (trainjob("d-failed", activeDeadlineSeconds=60), {"conditions": [FAILED]}),
    (
        mpijob("a-running"),
        {"conditions": [condition("Created", "MPIJobCreated", "MPIJob is created.")]},
    ),
    (
        mpijob("b-succeeded", runPolicy={"suspend": False}),
        {
            "conditions": [
                condition("Succeeded", "MPIJobSucceeded", "MPIJob successfully completed.")
            ]
        },
    ),
    (obj("TrainingRuntime", "local", **RUNTIME), {}),
    (obj("OptimizationJob", "search", **SEARCH), {}),
]


@pytest.fixture(scope="module")
def cluster(api_cluster: Access) -> Iterator[Access]:
    """With a namespace that has one object of each kind."""
    api_cluster.install_our_crds()
    api_cluster.create_namespace(PLACE)
    api_cluster.apply(*(wanted for wanted, _ in OBJECTS))
    for wanted, status in OBJECTS:
        if status:
            name = f"{wanted['kind'].lower()}/{wanted['metadata']['name']}"
            body = json.dumps({"status": status})
            flags = ("--subresource=status", "--type=merge", "-p", body, "-n", PLACE)
            api_cluster.kubectl("patch", name, *flags)
    yield api_cluster
    api_cluster.delete_namespace(PLACE)


@dataclass(frozen=True)
class Case:
    """A command, and the file with what it prints."""

    file: str
    command: str

    @property
    def arguments(self) -> list[str]:
        return [*self.command.split(), "-n", PLACE]


CASES: Final = [
    Case("get-trainjobs", "get trainjobs"),
    Case("get-trainjob-wide", "get trainjob a-running -o wide"),
    Case("get-trainjob-yaml", "get trainjob a-running -o yaml"),
    Case("get-mpijobs", "get mpijobs"),
    Case("get-trainingruntimes", "get trainingruntimes"),
    Case("get-optimizationjobs", "get optimizationjobs"),
    Case("describe-trainjob", "describe trainjob a-running"),
    Case("describe-mpijob", "describe mpijob b-succeeded"),
    Case("describe-trainingruntime", "describe trainingruntime local"),
    Case("explain-trainjob", "explain trainjob"),
    Case("explain-trainjob-spec", "explain trainjob.spec"),
    Case("explain-trainjob-trainer", "explain trainjob.spec.trainer"),
    Case("explain-trainjob-patches", "explain trainjob.spec.runtimePatches --recursive"),
    Case("explain-trainjob-status", "explain trainjob.status"),
    Case("explain-runtime-mlpolicy", "explain clustertrainingruntime.spec.mlPolicy"),
    Case("explain-mpijob-spec", "explain mpijob.spec"),
    Case("explain-mpijob-runpolicy", "explain mpijob.spec.runPolicy"),
    Case("explain-optimizationjob", "explain optimizationjob.spec"),
    Case("wait-condition", "wait --for=condition=Complete trainjob/c-complete --timeout=10s"),
    Case("wait-timeout", "wait --for=condition=Complete trainjob/a-running --timeout=0s"),
    Case(
        "wait-progress",
        "wait --for=jsonpath={.status.trainerStatus.progressPercentage}=45 trainjob/a-running"
        " --timeout=10s",
    ),
    Case("wait-mpijob", "wait --for=condition=Succeeded mpijob/b-succeeded --timeout=10s"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.file)
def test_kubectl_prints_what_is_written_down(case: Case, cluster: Access) -> None:
    done = cluster.kubectl(*case.arguments, check=False)
    check(case.file, f"$ kubectl {case.command}\n{steady(done.stdout + done.stderr)}")


def check(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if UPDATES:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


STEADY: Final = [
    (r"(?m)[ \t]+$", ""),
    (r"(uid|UID|resourceVersion|Resource Version):(\s+)\S+", r"\1:\2X"),
    (r"(creationTimestamp|Creation Timestamp):(\s+)\S+", r"\1:\2T"),
    (r"(?m)(\s)(\d+[smhd])+$", r"\1AGE"),
]


def steady(text: str) -> str:
    """Without what is another each time."""
    for pattern, replacement in STEADY:
        text = re.sub(pattern, replacement, text)
    return text


APPLIES: Final[list[tuple[str, Json]]] = [
    ("alice", {"suspend": True}),
    ("alice", {"suspend": True}),
    ("bob", {"suspend": False}),
    ("bob", {"runtimePatches": [{"manager": "bob.io/x"}]}),
    ("alice", {"suspend": True, "runtimePatches": [{"manager": "alice.io/x"}]}),
    ("alice", {"suspend": True, "runtimePatches": []}),
    ("alice", {"activeDeadlineSeconds": 0}),
    ("alice", {"nodes": 3}),
]
"""Who applies what to one TrainJob, one after another."""


def test_server_side_apply_by_two_people(cluster: Access) -> None:
    text = ""
    for manager, spec in APPLIES:
        flags = ("apply", "--server-side", f"--field-manager={manager}", "-f", "-")
        manifest = json.dumps(trainjob("applied", **spec))
        done = cluster.kubectl(*flags, input=manifest, check=False)
        text += f"$ kubectl {' '.join(flags[:3])}  # {json.dumps(spec)}\n"
        text += steady(done.stdout + done.stderr)
        names = "-o=jsonpath={.spec.suspend} {.spec.runtimePatches[*].manager}"
        stored = cluster.kubectl("get", "trainjob", "applied", "-n", PLACE, names).stdout
        text += f"# suspend and managers: {stored.strip()}\n\n"
    check("apply-server-side", text)
