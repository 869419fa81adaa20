"""The objects of one of several jobs: what it is told of its rank and parameters, and its names.

The objects that come along with a job get its rank too: no two jobs share one. The server makes
jobs of them; the client shows them. Pure.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from trainway.jobset.literal_text import literal
from trainway.json_types import Json
from trainway.sweep.parameter import Assignment
from trainway.sweep.placeholders import assigned
from trainway.sweep.placeholders import variables as parameter_variables

_FAMILIES: Final = ("SKYPILOT", "TRAINWAY")
_COMPANIONS: Final = ("ConfigMap", "Secret", "TrainingRuntime")
_REFERENCES: Final = {
    "configMap": "ConfigMap",
    "configMapKeyRef": "ConfigMap",
    "configMapRef": "ConfigMap",
    "imagePullSecrets": "Secret",
    "secret": "Secret",
    "secretKeyRef": "Secret",
    "secretRef": "Secret",
}
"""The fields whose `name` is that of another object, and its kind."""
_NAMES: Final = {"filesName": "ConfigMap", "secretName": "Secret"}
"""The fields that are such a name themselves."""
_Renamed = Mapping[tuple[str, str], str]


def variables(rank: int, count: int) -> dict[str, str]:
    """What each of the jobs is told."""
    told = {"JOB_RANK": str(rank), "NUM_JOBS": str(count)}
    return {f"{family}_{name}": text for family in _FAMILIES for name, text in told.items()}


def ranked(
    objects: Sequence[Json], rank: int, count: int, more: Mapping[str, str] = MappingProxyType({})
) -> list[Json]:
    """The objects of one of the jobs, which is told its rank and these variables."""
    given = [(str(obj.get("kind")), _name(obj)) for obj in objects]
    renamed = {(kind, name): f"{name}-{rank}" for kind, name in given if kind in _COMPANIONS}
    env = {**variables(rank, count), **more}
    return [_told(_referring(obj, renamed), env) for obj in objects]


def trial(
    objects: Sequence[Json],
    rank: int,
    count: int,
    assignment: Assignment,
    *,
    is_job: Callable[[Json], bool],
    placeholders: bool = True,
) -> list[Json]:
    """The objects of one of the jobs, which has these parameters."""
    given = [
        assigned(obj, assignment, replace=placeholders) if is_job(obj) else obj for obj in objects
    ]
    return ranked(given, rank, count, parameter_variables(assignment))


def _name(obj: Mapping[str, Any]) -> str:
    metadata = obj.get("metadata")
    return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""


def _referring(obj: Json, renamed: _Renamed) -> Json:
    """The object under its own new name, where it has one, and with those of the others."""
    if obj.get("kind") in ("ConfigMap", "Secret"):
        changed = dict(obj)
    else:
        changed = _replaced(obj, renamed, "")
    name, metadata = renamed.get((str(obj.get("kind")), _name(obj))), obj.get("metadata")
    if name is None or not isinstance(metadata, dict):
        return changed
    return {**changed, "metadata": {**metadata, "name": name}}


def _replaced(value: Any, renamed: _Renamed, field: str) -> Any:
    if isinstance(value, list):
        return [_replaced(item, renamed, field) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {name: _replaced(item, renamed, name) for name, item in value.items()}
    kinds = dict(_NAMES)
    if field == "runtimeRef":
        kinds["name"] = str(value.get("kind"))
    elif field in _REFERENCES:
        kinds["name"] = _REFERENCES[field]
    for name, kind in kinds.items():
        if isinstance(value.get(name), str):
            changed[name] = renamed.get((kind, value[name]), value[name])
    return changed


def _told(obj: Json, env: Mapping[str, str]) -> Json:
    """The job with more variables; other objects as they are. It is a copy already."""
    match obj.get("kind"), obj.get("spec"):
        case "TrainJob", dict(spec) if isinstance(spec.get("trainer") or {}, dict):
            trainer = spec.get("trainer") or {}
            spec["trainer"] = {**trainer, "env": _with(trainer.get("env"), env)}
        case "Task", dict(spec):
            for task in _dicts(item.get("task") for item in _dicts(spec.get("tasks"))):
                task["envs"] = {**(task.get("envs") or {}), **env}
        case "JobSet" | "MPIJob", dict(spec):
            for container in _containers(spec):
                container["env"] = _with(container.get("env"), env)
    return obj


def _with(known: Any, env: Mapping[str, str]) -> Any:
    if known is not None and not isinstance(known, list):
        return known  # the compiler will say so
    kept = [
        item for item in known or () if not (isinstance(item, dict) and item.get("name") in env)
    ]
    return [*kept, *({"name": name, "value": literal(text)} for name, text in env.items())]


def _containers(spec: Mapping[str, Any]) -> Iterator[Json]:
    """Those of all pods of a JobSet or an MPIJob."""
    replicas = spec.get("mpiReplicaSpecs")
    if isinstance(replicas, dict):
        pods = [_inner(item, "template", "spec") for item in replicas.values()]
    else:
        roles = _dicts(spec.get("replicatedJobs"))
        pods = [_inner(role, "template", "spec", "template", "spec") for role in roles]
    for pod in pods:
        for name in ("initContainers", "containers"):
            yield from _dicts(pod.get(name))


def _inner(value: Any, *path: str) -> Json:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _dicts(items: Any) -> Iterator[Json]:
    """Those of a list that are objects; whatever else is wrong, the compiler will say so."""
    for item in items if isinstance(items, Iterator | list) else ():
        if isinstance(item, dict):
            yield item
