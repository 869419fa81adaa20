"""Objects and questions for the tests of webhooks, as the API server would send them."""

import base64
import copy
from typing import Any

import orjson

from trainway.api.kinds import KINDS
from trainway.jobset.labels import ANCESTOR_STEP
from trainway.json_types import Json
from trainway.operator.webhooks.review import Question
from trainway.schema.defaulting import with_defaults


def defaulted(obj: Json) -> Json:
    """As the API server leaves an object before a webhook sees it."""
    kind = KINDS[obj["apiVersion"], obj["kind"]]
    filled: Json = with_defaults(kind.schema(), copy.deepcopy(obj))
    return filled


def creation(obj: Json) -> Question:
    """Someone creates an object."""
    return Question("uid", "CREATE", defaulted(obj))


def update(old: Json, new: Json, user: str = "") -> Question:
    """Someone changes an object."""
    return Question("uid", "UPDATE", defaulted(new), defaulted(old), user)


def trainjob(**spec: Any) -> Json:
    """A TrainJob on the runtime `torch`."""
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "job", "namespace": "ns", "uid": "job-uid"},
        "spec": {"runtimeRef": {"name": "torch"}, **spec},
    }


def patch_of(manager: str, node: str = "a", **more: Any) -> Json:
    """A runtime patch that chooses nodes."""
    pod = {"spec": {"nodeSelector": {"pool": node}}}
    job = {"name": "node", "template": {"spec": {"template": pod}}}
    spec = {"template": {"spec": {"replicatedJobs": [job]}}}
    return {"manager": manager, "trainingRuntimeSpec": spec, **more}


def runtime(kind: str = "ClusterTrainingRuntime", **more: Any) -> Json:
    """The runtime `torch`; `more` goes into its spec."""
    pod = {"spec": {"containers": [{"name": "node", "image": "torch"}]}}
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {ANCESTOR_STEP: "trainer"}},
            "spec": {"template": pod},
        },
    }
    metadata: Json = {"name": "torch", "uid": "runtime-uid", "resourceVersion": "1"}
    if kind == "TrainingRuntime":
        metadata["namespace"] = "ns"
    template = {"spec": {"replicatedJobs": [job]}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"mlPolicy": {"torch": {}}, "template": template, **more},
    }


def mpijob(**spec: Any) -> Json:
    """An MPIJob with a launcher and two workers."""
    template = {"spec": {"containers": [{"name": "mpi", "image": "mpi"}]}}
    roles = {"Launcher": {"template": template}, "Worker": {"replicas": 2, "template": template}}
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "job", "namespace": "ns"},
        "spec": {"mpiReplicaSpecs": roles, **spec},
    }


def message(answer: Json) -> str:
    """Why not; empty: it is allowed."""
    return str(answer["response"].get("status", {}).get("message", ""))


def patch(answer: Json) -> list[Json]:
    """What is to be changed."""
    text = answer["response"].get("patch")
    operations: list[Json] = orjson.loads(base64.b64decode(text)) if text else []
    return operations
