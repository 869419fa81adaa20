"""Volumes that people have named once, in the pods of jobs. Pure.

A job refers to one as it refers to a claim of Kubernetes. What the name stands for is written on
the job when it is submitted, so that the job means the same wherever it is compiled again. On
Kubernetes it is a claim or a path of the nodes; elsewhere it is a folder that is there already.
"""

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from trainway.api.task import infra, volume
from trainway.api.task.task_object import KIND as TASK
from trainway.jobset.labels import VOLUMES
from trainway.jobset.model import PodTemplate, replicated_jobs
from trainway.json_types import Json

_CLAIM: Final = "persistentVolumeClaim"


@dataclass(frozen=True)
class NamedVolume:
    """What a name stands for."""

    name: str
    type: str
    infra: str = ""
    host_path: str = ""
    access_mode: str = ""
    size: str = ""

    @property
    def is_in_pods(self) -> bool:
        """Whether it is on Kubernetes."""
        return self.type != volume.DIRECTORY

    @property
    def place(self) -> str:
        """Where it is."""
        return self.infra or ("kubernetes" if self.is_in_pods else "local")


def references(objects: Iterable[Json]) -> list[str]:
    """The names of claims and volumes that objects refer to."""
    return list(dict.fromkeys(name for obj in objects for name in _references(obj)))


def annotated(objects: Sequence[Json], known: Mapping[str, NamedVolume]) -> list[Json]:
    """The objects; each that refers to volumes that are known says what they are."""
    made = []
    for obj in objects:
        metadata = obj.get("metadata")
        names = [name for name in _references(obj) if name in known]
        if not names or not isinstance(metadata, dict):
            made.append(obj)
            continue
        told = json.dumps({name: asdict(known[name]) for name in names}, sort_keys=True)
        notes = {**(metadata.get("annotations") or {}), VOLUMES: told}
        made.append({**obj, "metadata": {**metadata, "annotations": notes}})
    return made


def with_volumes(
    jobset: Json, source: Json, place: str, *, in_pods: bool
) -> tuple[Json, list[str]]:
    """The JobSet with what the names stand for in place of them, and why it cannot run there.

    `source` is what it was compiled from, which says what the names stand for. A task that is
    not to run `in_pods` has no other claims.
    """
    known = _known(source)
    must_know = source.get("kind") == TASK and not in_pods
    if not known and not must_know:
        return jobset, []
    made, errors = copy.deepcopy(jobset), []
    for job in replicated_jobs(made["spec"]):
        for item in job.pod.spec.get("volumes") or []:
            claim = item.get(_CLAIM)
            if not isinstance(claim, dict):
                continue
            name = str(claim.get("claimName"))
            where = f"role {job.name}, volume {name}"
            if name in known:
                wrong = problem(known[name], place, pods_of(job.data))
                errors += [f"{where}: {wrong}"] if wrong else []
                _put(item, known[name])
                if known[name].access_mode == "ReadOnlyMany":
                    _make_read_only(job.pod, str(item.get("name")))
            elif must_know:
                errors.append(
                    f"{where}: there is no volume of that name; make it with trainway volumes apply"
                )
    return made, list(dict.fromkeys(errors))


def directories(source: Json) -> list[NamedVolume]:
    """The volumes of a job that are folders of hosts."""
    known = _known(source)
    named = [known[name] for name in references([source]) if name in known]
    return [each for each in named if not each.is_in_pods]


def problem(named: NamedVolume, place: str, pods: int) -> str:
    """Why pods at a place cannot have a volume; empty: they can."""
    if not is_within(place, named.place):
        return f"it is on {named.place}, but the job goes to {place}"
    if pods > 1 and named.access_mode.startswith("ReadWriteOnce"):
        return f"{named.access_mode} allows one node only, but the job has {pods}"
    return ""


def is_within(place: str, outer: str) -> bool:
    """Whether a place is another one, or a part of it: slurm/hpc/gpu is within slurm/hpc."""
    try:
        inner, around = str(infra.parse(place)), str(infra.parse(outer))
    except ValueError:
        return place == outer
    return inner == around or inner.startswith(f"{around}/")


def pods_of(role: Mapping[str, Any]) -> int:
    """How many pods a replicated job has at a time."""
    spec = (role.get("template") or {}).get("spec") or {}
    return int(role.get("replicas") or 1) * int(spec.get("parallelism") or 1)


def _put(item: Json, named: NamedVolume) -> None:
    if named.host_path:
        del item[_CLAIM]
        kind = "Directory" if named.type == volume.DIRECTORY else "DirectoryOrCreate"
        item["hostPath"] = {"path": named.host_path, "type": kind}


def _make_read_only(pod: PodTemplate, name: str) -> None:
    for container in (*pod.init_containers, *pod.containers):
        for mount in container.data.get("volumeMounts") or []:
            if mount.get("name") == name:
                mount["readOnly"] = True


def _known(source: Json) -> dict[str, NamedVolume]:
    metadata = source.get("metadata")
    notes = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = notes.get(VOLUMES) if isinstance(notes, dict) else None
    try:
        told = json.loads(text) if isinstance(text, str) else {}
        found = {name: NamedVolume(**said) for name, said in told.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: each for name, each in found.items() if _is_text(each)}


def _is_text(named: NamedVolume) -> bool:
    return all(isinstance(value, str) for value in asdict(named).values())


def _references(obj: Json) -> Iterator[str]:
    if obj.get("kind") == TASK:
        spec = obj.get("spec")
        items = spec.get("tasks") if isinstance(spec, dict) else None
        for item in items if isinstance(items, list) else ():
            task = item.get("task") if isinstance(item, dict) else None
            mounts = task.get("volumes") if isinstance(task, dict) else None
            for value in mounts.values() if isinstance(mounts, dict) else ():
                name = value.get("name") if isinstance(value, dict) else value
                if isinstance(name, str):
                    yield name
        return
    yield from _claims(obj)


def _claims(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        claim = value.get(_CLAIM)
        if isinstance(claim, dict) and isinstance(claim.get("claimName"), str):
            yield claim["claimName"]
        for each in value.values():
            yield from _claims(each)
    elif isinstance(value, list):
        for each in value:
            yield from _claims(each)
