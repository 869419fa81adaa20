"""Objects for tests of MPIJobs: as users write them, and as a cluster makes them."""

import copy
from typing import Any

from trainway.compiler.mpijob import OPERATOR
from trainway.jobset.labels import (
    COMPLETION_INDEX,
    JOBSET_UID,
    MPI_JOB_NAME,
    MPI_JOB_ROLE,
    MPI_OPERATOR_NAME,
)
from trainway.json_types import Json

TIME = "2026-01-31T12:00:00Z"


def mpijob(
    name: str = "pi",
    namespace: str = "ns",
    *,
    workers: int = 2,
    run_policy: Json | None = None,
    **spec: Any,
) -> Json:
    """An MPIJob as a user writes it; `spec` has more fields."""
    template = {"spec": {"containers": [{"name": "main", "image": "mpi"}]}}
    roles: Json = {"Launcher": {"template": template}}
    if workers:
        roles["Worker"] = {"replicas": workers, "template": copy.deepcopy(template)}
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"mpiReplicaSpecs": roles, "runPolicy": run_policy or {}, **spec},
    }


def stored(obj: Json, uid: str = "1") -> Json:
    """The same as the API server has it."""
    return {**obj, "metadata": {**obj["metadata"], "uid": uid, "resourceVersion": "7"}}


def jobset(*conditions: str, suspend: bool = False, uid: str = "js", **metadata: Any) -> Json:
    """A JobSet as it is cached; `conditions` are those that hold."""
    return {
        "metadata": {"name": "pi", "namespace": "ns", "uid": uid, **metadata},
        "spec": {"suspend": suspend},
        "status": {"conditions": [{"type": type_, "status": "True"} for type_ in conditions]},
    }


def labels(role: str, jobset_uid: str = "js", name: str = "pi") -> dict[str, str]:
    """What Jobs and pods of a role carry."""
    return {
        MPI_OPERATOR_NAME: OPERATOR,
        MPI_JOB_NAME: name,
        MPI_JOB_ROLE: role,
        JOBSET_UID: jobset_uid,
    }


def pod(role: str, phase: str, index: int = 0, *, uid: str = "js", **more: Any) -> Json:
    """A pod; `more` are fields of its status, and `deletionTimestamp`."""
    metadata: Json = {
        "name": f"pi-{role}-0-{index}-x{more.get('startTime', '')[-3:-1]}",
        "namespace": "ns",
        "labels": {**labels(role, uid), COMPLETION_INDEX: str(index)},
    }
    if "deletionTimestamp" in more:
        metadata["deletionTimestamp"] = more.pop("deletionTimestamp")
    if "creationTimestamp" in more:
        metadata["creationTimestamp"] = more.pop("creationTimestamp")
    return {"metadata": metadata, "spec": {"nodeName": "n"}, "status": {"phase": phase, **more}}


def child_job(role: str, *, uid: str = "js", pods: int = 2, **status: Any) -> Json:
    """The Job of a role."""
    return {
        "metadata": {"name": f"pi-{role}-0", "namespace": "ns", "labels": labels(role, uid)},
        "spec": {"parallelism": pods, "completions": pods, "template": {}},
        "status": status,
    }
