"""What Trainway tells the processes of a job, as variables of pods. Pure.

The table is the agent's (`agent.variables`), so that a job finds the same on every backend. What
differs from pod to pod is read from the pod by Kubernetes itself; no command is wrapped. The
compiler has no part in it: what an operator makes of a TrainJob stays as upstream has it.
"""

import copy
from collections.abc import Iterable
from typing import Final, NamedTuple

from trainway.agent.kubelet.variables import (
    DEFAULTS,
    JOB_ID,
    JOB_NAME,
    OUTPUT_DIR,
    RANK,
    RESTART_ATTEMPT,
    ROLE,
    VARIABLES,
)
from trainway.compiler.restarts import INITIALIZERS
from trainway.jobset.labels import MPI_REPLICA_INDEX
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json

OUTPUT: Final = "/opt/trainway/output"
"""The output directory of a pod: a volume that lasts as long as the pod."""
SHARED_OUTPUT: Final = "/tmp"  # noqa: S108 - a pod has it for itself
"""The output directory where an operator makes the pods that may not know of patches."""
TRAINER: Final = "node"
"""The replicated job of a runtime that trains, and its container, as Trainer wants them called."""
_MANAGER: Final = "trainway.dev/output"
"""The manager of the patch by which a TrainJob gets a directory for what it writes."""

VOLUME: Final = "trainway-output"
_MOST_PATCHES: Final = 16
"""How many patches a TrainJob may have."""
_INDEX: Final = "JOB_COMPLETION_INDEX"
_REPLICA: Final = "TRAINWAY_REPLICA_INDEX"
_FIELDS: Final = {variable.name: variable.field for variable in VARIABLES if variable.field}


class Told(NamedTuple):
    """What all pods of a job are told alike."""

    id: str
    name: str


def in_jobset(jobset: Json, told: Told) -> Json:
    """The JobSet with the variables in all containers, and a directory for what they produce."""
    jobset = copy.deepcopy(jobset)
    for role in replicated_jobs(jobset["spec"]):
        pod = role.pod.spec
        mounted = False
        for container in (*(pod.get("initContainers") or ()), *pod["containers"]):
            is_own = OUTPUT_DIR in _names(container.get("env"))
            _add(container, _literal(told, OUTPUT) + _read(_FIELDS))
            if not is_own:
                _mount(container)
                mounted = True
        if mounted:
            _add_volume(pod)
    return jobset


def takes_output(source: Json, jobset: Json) -> bool:
    """Whether a job that an operator runs can have a volume for its output.

    Not if it says itself where its output goes. A TrainJob, which becomes `jobset`, must have place
    for one more patch, and nobody but the trainer may hear of it, as the launcher of MPI does.
    """
    spec = source.get("spec") or {}
    if source.get("kind") == "MPIJob":
        containers = [each for _, pod in _pods_of_mpi(spec) for each in pod.get("containers") or ()]
        return not any(OUTPUT_DIR in _names(each.get("env")) for each in containers)
    roles = [role for role in replicated_jobs(jobset["spec"]) if role.name not in INITIALIZERS]
    names = {each["name"] for role in roles for each in role.pod.spec["containers"]}
    is_alone = [role.name for role in roles] == [TRAINER] and TRAINER in names
    is_own = OUTPUT_DIR in _names((spec.get("trainer") or {}).get("env"))
    has_room = len(spec.get("runtimePatches") or ()) < _MOST_PATCHES
    return source.get("kind") == "TrainJob" and is_alone and not is_own and has_room


def in_source(source: Json, told: Told, *, has_output: bool = False) -> Json:
    """A TrainJob or MPIJob with the variables, for an operator that makes its pods.

    `has_output`: the pods get a volume for their output, which the operator has to patch into the
    runtime of a TrainJob.
    """
    source = copy.deepcopy(source)
    spec = source.setdefault("spec", {})
    output = OUTPUT if has_output else SHARED_OUTPUT
    if source["kind"] == "TrainJob":
        trainer = spec["trainer"] = spec.get("trainer") or {}
        _add(trainer, _literal(told, output) + _read(_FIELDS))
        if has_output:
            spec["runtimePatches"] = [*(spec.get("runtimePatches") or ()), _output_patch()]
        return source
    for kind, pod in _pods_of_mpi(spec):
        for container in pod.get("containers") or ():
            _add(container, _literal(told, output) + _of_mpi(kind))
            if has_output:
                _mount(container)
        if has_output:
            _add_volume(pod)
    return source


def _pods_of_mpi(spec: Json) -> list[tuple[str, Json]]:
    """The pods of an MPIJob, each with the name of its role."""
    replicas = (spec.get("mpiReplicaSpecs") or {}).items()
    return [(kind, (each.get("template") or {}).get("spec") or {}) for kind, each in replicas]


def _mount(container: Json) -> None:
    mount = {"name": VOLUME, "mountPath": OUTPUT}
    container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]


def _add_volume(pod: Json) -> None:
    pod["volumes"] = [*(pod.get("volumes") or ()), {"name": VOLUME, "emptyDir": {}}]


def _output_patch() -> Json:
    """What adds the volume of the output to the pods of a runtime."""
    container = {"name": TRAINER, "volumeMounts": [{"name": VOLUME, "mountPath": OUTPUT}]}
    pod = {"volumes": [{"name": VOLUME, "emptyDir": {}}], "containers": [container]}
    role = {"name": TRAINER, "template": {"spec": {"template": {"spec": pod}}}}
    change = {"template": {"spec": {"replicatedJobs": [role]}}}
    return {"manager": _MANAGER, "trainingRuntimeSpec": change}


def _of_mpi(kind: str) -> list[Json]:
    """The pods of an MPIJob come from a JobSet, or one by one from upstream's operator."""
    values = {ROLE: kind.lower(), RANK: "0", RESTART_ATTEMPT: "0"}
    if kind == "Launcher":
        return _texts(values)
    indexes = {_INDEX: _FIELDS[RANK], _REPLICA: f"metadata.labels['{MPI_REPLICA_INDEX}']"}
    # A pod has one of the two, and a variable of what it does not have is empty.
    return _read(indexes) + _texts(values | {RANK: f"$({_INDEX})$({_REPLICA})"})


def _literal(told: Told, output: str) -> list[Json]:
    return _texts({JOB_ID: told.id, JOB_NAME: told.name, OUTPUT_DIR: output, **DEFAULTS})


def _texts(values: dict[str, str]) -> list[Json]:
    return [{"name": name, "value": text} for name, text in values.items()]


def _read(fields: dict[str, str]) -> list[Json]:
    return [
        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
        for name, path in fields.items()
    ]


def _add(container: Json, variables: Iterable[Json]) -> None:
    """Put variables first, where the container's own can refer to them; its own count more.

    All but the id of the job, by which everything of it is found.
    """
    own = [entry for entry in container.get("env") or () if entry.get("name") != JOB_ID]
    names = _names(own)
    added = [variable for variable in variables if variable["name"] not in names]
    container["env"] = [*added, *own]


def _names(env: Iterable[Json] | None) -> set[str]:
    return {str(entry.get("name")) for entry in env or ()}
