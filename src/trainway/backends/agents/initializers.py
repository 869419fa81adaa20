"""Initializers where containers are processes: what their images would run, run by us. Pure.

A volume claim is a folder of each host. So where a job may have several hosts, every pod that
mounts what an initializer fills fills it on its own host first, before its own containers start;
where it is filled already, that takes no time. On this machine, and where all nodes share the
folder, the first to come has done it for all.
"""

import copy
import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trainway.backends.base import Isolation, Workload, isolation_of
from trainway.compiler.workload import DATASET_INITIALIZER, MODEL_INITIALIZER
from trainway.data.flight.initialization import SCHEME
from trainway.data.initializer.archive import NAME, archive
from trainway.data.initializer.request import DATASET, MODEL, REFUSED, STORAGE_URI, WORKSPACE
from trainway.jobset.labels import ANCESTOR_STEP
from trainway.jobset.model import Container, PodTemplate, ReplicatedJob, replicated_jobs
from trainway.json_types import Json

STEPS: Final = {DATASET_INITIALIZER: DATASET, MODEL_INITIALIZER: MODEL}
PROGRAM: Final = "trainway-initializer"
PROGRAM_PATH: Final = "/run/trainway-initializer"
_ATTEMPTS: Final = 3


@dataclass(frozen=True)
class _Found:
    """A container that does what the image of an initializer does."""

    step: str
    job: ReplicatedJob
    container: Container

    @property
    def source(self) -> str:
        """What is behind its workspace."""
        return _sources(self.job.pod).get(_workspace_mount(self.container), "")


def is_initializer(job: ReplicatedJob, container: Container) -> bool:
    """Whether a container has no command since its image is that of an initializer."""
    return (
        container.name in STEPS
        and job.labels.get(ANCESTOR_STEP) == container.name
        and not container.command
        and (bool(_workspace_mount(container)) or _awaits_cache(container))
    )


def _awaits_cache(container: Container) -> bool:
    """Whether it fetches nothing: what waits for a cache mounts nothing."""
    found = (each.get("value") for each in container.env if each.get("name") == STORAGE_URI)
    return any(str(uri).startswith(SCHEME) for uri in found)


def as_processes(workload: Workload, python: Sequence[str] = ()) -> Workload:
    """The workload with the command of each initializer; `python` has Trainway installed.

    Without one the program goes along, and brings what each host needs by itself.
    """
    jobset = workload.jobset
    if isolation_of(jobset) is Isolation.CONTAINER or not any(_found(jobset)):
        return workload
    jobset = copy.deepcopy(jobset)
    found = list(_found(jobset))
    config_map = f"{workload.name}-{PROGRAM}"
    for each in found:
        _complete(each, [*python, "-m", "trainway.data.initializer"] if python else [])
    if python:
        return replace(workload, jobset=jobset)
    for job in replicated_jobs(jobset["spec"]):
        mine = [each for each in found if each.job.data is job.data]
        if mine or _add_to(job, found):
            job.pod.set_volume({"name": PROGRAM, "configMap": {"name": config_map}})
    return replace(workload, jobset=jobset, objects=[*workload.objects, _program(config_map)])


def _found(jobset: Json) -> Iterator[_Found]:
    for job in replicated_jobs(jobset["spec"]):
        for container in job.pod.containers:
            if is_initializer(job, container):
                yield _Found(STEPS[container.name], job, container)


def _complete(found: _Found, command: Sequence[str]) -> None:
    """Give the container its command, and let its Job end where another attempt is in vain."""
    data, job = found.container.data, found.job.job_spec
    target = f"{WORKSPACE}/{found.step}"
    program = command or ["python3", f"{PROGRAM_PATH}/{NAME}"]
    data["command"] = [*program, found.step, "--cached", "--target", target]
    data.pop("args", None)
    data.pop("workingDir", None)
    if not command:
        found.container.set_mount(PROGRAM, PROGRAM_PATH, readOnly=True)
    if not job.get("podFailurePolicy") and found.job.pod.spec.get("restartPolicy") != "Never":
        found.job.pod.spec["restartPolicy"] = "Never"
        job.setdefault("backoffLimit", _ATTEMPTS)
        matched = {"containerName": found.container.name, "operator": "In", "values": [REFUSED]}
        job["podFailurePolicy"] = {"rules": [{"action": "FailJob", "onExitCodes": matched}]}


def _add_to(job: ReplicatedJob, found: Sequence[_Found]) -> bool:
    """Let a pod fill what it mounts on its own host; False: it mounts nothing of that kind."""
    names = {source: name for name, source in _sources(job.pod).items()}
    mounted = {
        str(mount.get("name"))
        for container in (*job.pod.containers, *job.pod.init_containers)
        for mount in container.data.get("volumeMounts") or []
    }
    first: list[Json] = []
    for each in found:
        name = names.get(each.source, "")
        if name in mounted:
            data = {key: value for key, value in each.container.data.items() if key != "resources"}
            mounts = [mount for mount in data["volumeMounts"] if mount["name"] == PROGRAM]
            data["volumeMounts"] = [{"name": name, "mountPath": WORKSPACE}, *mounts]
            first.append(copy.deepcopy(data))
    there = job.pod.spec.get("initContainers") or []
    if first:
        job.pod.spec["initContainers"] = [*first, *there]
    return bool(first)


def _workspace_mount(container: Container) -> str:
    """The name of the volume that is the workspace of an initializer; empty: there is none."""
    mounts = container.data.get("volumeMounts") or []
    found = (str(mount["name"]) for mount in mounts if mount.get("mountPath") == WORKSPACE)
    return next(found, "")


def _sources(pod: PodTemplate) -> dict[str, str]:
    """What is behind the volumes of a pod; those that it does not declare are the JobSet's."""
    named = {
        str(mount.get("name"))
        for container in (*pod.containers, *pod.init_containers)
        for mount in container.data.get("volumeMounts") or []
    }
    declared = {
        str(volume["name"]): json.dumps({**volume, "name": ""}, sort_keys=True)
        for volume in pod.spec.get("volumes") or []
        if "persistentVolumeClaim" in volume or "hostPath" in volume
    }
    others = {str(volume["name"]) for volume in pod.spec.get("volumes") or []}
    return {**{name: name for name in named - others}, **declared}


def _program(name: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "binaryData": {NAME: b64encode(archive()).decode()},
    }
