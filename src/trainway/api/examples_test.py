"""One full, valid object of each kind, and the means to change a single field of it."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from trainway.api.kinds import check
from trainway.json_types import Json
from trainway.schema.field import ABSENT

TIME = "2026-01-31T12:00:00Z"
CONDITION: Json = {
    "type": "Complete",
    "status": "True",
    "reason": "AllJobsCompleted",
    "message": "jobset completed successfully",
    "lastTransitionTime": TIME,
}
POD: Json = {"spec": {"containers": [{"name": "node", "image": "train:1"}]}}
PATCHED_POD: Json = {
    "metadata": {"labels": {"team": "nlp"}},
    "spec": {
        "serviceAccountName": "trainer",
        "volumes": [{"name": "data", "emptyDir": {}}],
        "initContainers": [{"name": "fetch"}],
        "containers": [
            {
                "name": "sidecar",
                "env": [{"name": "A", "value": "1"}],
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                "securityContext": {"runAsUser": 1000},
            }
        ],
        "imagePullSecrets": [{"name": "registry"}],
        "securityContext": {"fsGroup": 1000},
        "nodeSelector": {"zone": "a"},
        "affinity": {"nodeAffinity": {}},
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "schedulingGates": [{"name": "acme.io/gate"}],
        "terminationGracePeriodSeconds": 30,
    },
}
PATCH: Json = {
    "manager": "acme.io/foo",
    "time": TIME,
    "trainingRuntimeSpec": {
        "template": {
            "metadata": {"annotations": {"note": "x"}},
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "node",
                        "template": {
                            "metadata": {"labels": {"a": "b"}},
                            "spec": {"template": PATCHED_POD},
                        },
                    }
                ]
            },
        }
    },
}
TRAIN_JOB: Json = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "llm", "namespace": "ml", "labels": {"a": "b"}, "generation": 1},
    "spec": {
        "runtimeRef": {
            "name": "torch-distributed",
            "apiGroup": "trainer.kubeflow.org",
            "kind": "ClusterTrainingRuntime",
        },
        "initializer": {
            "dataset": {
                "storageUri": "hf://org/data",
                "env": [{"name": "A", "value": "1"}],
                "secretRef": {"name": "token"},
            },
            "model": {"storageUri": ""},
        },
        "trainer": {
            "image": "train:2",
            "command": ["torchrun"],
            "args": ["train.py"],
            "env": [{"name": "EPOCHS", "value": "3"}],
            "numNodes": 2,
            "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}},
            "numProcPerNode": 8,
        },
        "runtimePatches": [PATCH],
        "suspend": False,
        "activeDeadlineSeconds": 3600,
        "managedBy": "trainer.kubeflow.org/trainjob-controller",
    },
    "status": {
        "conditions": [CONDITION],
        "jobsStatus": [
            {"name": "node", "ready": 0, "succeeded": 1, "failed": 0, "active": 0, "suspended": 0}
        ],
        "trainerStatus": {
            "progressPercentage": 100,
            "estimatedRemainingSeconds": 0,
            "metrics": [{"name": "loss", "value": "0.1"}],
            "lastUpdatedTime": TIME,
        },
    },
}
TRAINING_RUNTIME: Json = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainingRuntime",
    "metadata": {"name": "torch", "namespace": "ml"},
    "spec": {
        "mlPolicy": {
            "numNodes": 1,
            "torch": {
                "envInjection": {"targets": [{"jobName": "node", "containerNames": ["sidecar"]}]}
            },
        },
        "podGroupPolicy": {
            "coscheduling": {"scheduleTimeoutSeconds": 120},
            "volcano": {"networkTopology": {"mode": "soft", "highestTierAllowed": 2}},
        },
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "node",
                        "groupName": "default",
                        "replicas": 1,
                        "template": {
                            "metadata": {
                                "labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
                            },
                            "spec": {"template": POD},
                        },
                    }
                ]
            },
        },
    },
}
CLUSTER_RUNTIME: Json = TRAINING_RUNTIME | {
    "kind": "ClusterTrainingRuntime",
    "metadata": {"name": "torch"},
}
OPTIMIZATION_JOB: Json = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "OptimizationJob",
    "metadata": {"name": "search", "namespace": "ml"},
    "spec": {
        "objectives": [{"metric": "loss", "direction": "Minimize"}],
        "searchAlgorithm": {"random": {"seed": 7}},
        "parameters": [
            {
                "name": "lr",
                "searchSpace": {"logUniform": {"min": "1e-5", "max": "0.1", "type": "Float"}},
            },
            {
                "name": "layers",
                "searchSpace": {"uniform": {"min": "-1", "max": "9", "type": "Int"}},
            },
            {"name": "kind", "searchSpace": {"categorical": {"choices": ["adam", "sgd"]}}},
        ],
        "numTrials": 10,
        "parallelTrials": 2,
        "trainJobTemplate": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "runtimeRef": TRAIN_JOB["spec"]["runtimeRef"],
                "suspend": False,
                "managedBy": "trainer.kubeflow.org/trainjob-controller",
            },
        },
    },
    "status": {
        "conditions": [CONDITION],
        "result": {"trainJobName": "search-1", "parameters": [{"name": "lr", "value": "0.1"}]},
    },
}
MPI_JOB: Json = {
    "apiVersion": "kubeflow.org/v2beta1",
    "kind": "MPIJob",
    "metadata": {"name": "pi", "namespace": "ml"},
    "spec": {
        "slotsPerWorker": 2,
        "runLauncherAsWorker": False,
        "mpiImplementation": "OpenMPI",
        "sshAuthMountPath": "/home/mpiuser/.ssh",
        "launcherCreationPolicy": "AtStartup",
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "restartPolicy": "OnFailure", "template": POD},
            "Worker": {"replicas": 2, "restartPolicy": "Never", "template": POD},
        },
        "runPolicy": {
            "cleanPodPolicy": "Running",
            "ttlSecondsAfterFinished": 60,
            "activeDeadlineSeconds": 3600,
            "backoffLimit": 3,
            "suspend": False,
            "managedBy": "kubeflow.org/mpi-operator",
            "schedulingPolicy": {
                "minAvailable": 3,
                "queue": "default",
                "priorityClass": "high",
                "minResources": {"cpu": 4, "memory": "8Gi"},
                "scheduleTimeoutSeconds": 30,
            },
        },
    },
    "status": {
        "conditions": [{"type": "Created", "status": "True", "lastUpdateTime": TIME}],
        "replicaStatuses": {"Worker": {"active": 2, "selector": "a=b"}, "Launcher": {}},
        "startTime": TIME,
    },
}
EXAMPLES = (TRAIN_JOB, TRAINING_RUNTIME, CLUSTER_RUNTIME, OPTIMIZATION_JOB, MPI_JOB)


@dataclass(frozen=True)
class Case:
    """A value for one field, and what is said against it: nothing if there are no errors."""

    path: str
    value: Any
    errors: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}={str(self.value)[:20]!r}"


def refused(path: str, value: Any, reason: str, at: str | None = None) -> Case:
    """A case with one error, at the field itself unless said otherwise."""
    where = at or path
    return Case(path, value, (f"{where}: {reason}",))


def changed(obj: Json, path: str, value: Any) -> Json:
    """The object with another value at a path such as `spec.env[0].name`; ABSENT removes it."""
    result: Json = json.loads(json.dumps(obj))
    *parents, last = path.replace("[", ".").replace("]", "").split(".")
    place: Any = result
    for step in parents:
        place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
    if value is ABSENT:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return result


def errors_of(obj: Json, old: Json | None = None) -> tuple[str, ...]:
    return tuple(str(error) for error in check(obj, old).errors)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example["kind"]))
def test_example_is_accepted(example: Json) -> None:
    report = check(example)
    assert [*report.errors, *report.warnings] == []
