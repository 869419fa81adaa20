"""The environment and the command line of a container, by the rules of the kubelet.

Three layers, the later ones winning: what the submitter had, what Trainway says about the pod, and
what the container declares. `$(NAME)` refers to the last two, as on a cluster, where both are
entries of the container; what is not known there stays as it is written, and `$$(NAME)` gives
`$(NAME)`.
"""

from __future__ import annotations

from trainway.agent.base.labels import COMPLETION_INDEX
from trainway.agent.kubelet.objects import MissingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from trainway.agent.kubelet.downward import Downward
    from trainway.agent.kubelet.objects import Objects
    from trainway.json_types import Json


GPU_VARIABLES = (
    ("amd.com/", "ROCR_VISIBLE_DEVICES"),
    ("nvidia.com/", "CUDA_VISIBLE_DEVICES"),
    ("gpu", "CUDA_VISIBLE_DEVICES"),
)
"""The variables by what the name of a resource contains; other variables of AMD choose among what
this one allows."""
GPU_CHOICES = (
    "CUDA_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
)
"""All variables by which a process is told which GPUs to use."""


def expand(text: str, known: Mapping[str, str]) -> str:
    """Replace `$(NAME)` where NAME is known."""
    result: list[str] = []
    position = 0
    while True:
        dollar = text.find("$", position)
        if dollar < 0 or dollar + 1 == len(text):
            result.append(text[position:])
            return "".join(result)
        result.append(text[position:dollar])
        follower = text[dollar + 1]
        end = text.find(")", dollar + 2) if follower == "(" else -1
        if follower == "$":
            result.append("$")
            position = dollar + 2
        elif end >= 0:
            name = text[dollar + 2 : end]
            result.append(known.get(name, f"$({name})"))
            position = end + 1
        else:
            result.append("$" + follower)
            position = dollar + 2


def declared(
    container: Json, objects: Objects, downward: Downward, told: Mapping[str, str]
) -> dict[str, str]:
    """What it is told, then what it declares: envFrom, and env, each expanded by those before."""
    env = dict(told)
    for source in container.get("envFrom") or []:
        env.update(_from_object(source, objects))
    for entry in container.get("env") or []:
        name, text = str(entry["name"]), entry.get("value")
        if text:
            env[name] = expand(str(text), env)
            continue
        value = _from_source(entry.get("valueFrom"), container, objects, downward)
        if value is not None:
            env[name] = value
    return env


def with_completion_index(container: Json) -> Json:
    """The container with the variable that the Job controller adds to pods of an Indexed Job."""
    env = list(container.get("env") or [])
    if any(entry.get("name") == "JOB_COMPLETION_INDEX" for entry in env):
        return container
    path = f"metadata.labels['{COMPLETION_INDEX}']"
    added = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": path}}}
    return dict(container, env=[*env, added])


def _from_object(source: Json, objects: Objects) -> dict[str, str]:
    ref, kind = source.get("configMapRef"), "ConfigMap"
    if ref is None:
        ref, kind = source.get("secretRef") or {}, "Secret"
    optional = bool(ref.get("optional"))
    data = objects.data(kind, str(ref.get("name", "")), optional=optional)
    prefix = str(source.get("prefix") or "")
    return {f"{prefix}{key}": _text(value) for key, value in data.items()}


def _from_source(
    source: Json | None, container: Json, objects: Objects, downward: Downward
) -> str | None:
    """The value of a variable that comes from elsewhere; None where there is none and may be."""
    if not source:
        return ""
    for field, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        if source.get(field) is not None:
            value = objects.value(kind, source[field])
            return None if value is None else _text(value)
    if "fieldRef" in source or "resourceFieldRef" in source:
        return downward.value(source, container)
    raise MissingError(f"environment variables from {', '.join(source)} are not known here")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def devices(container: Json, assigned: Json) -> dict[str, str]:
    """Which GPUs a container sees, where it asks for some and some are assigned to its pod."""
    resources = container.get("resources") or {}
    names = [*(resources.get("limits") or {}), *(resources.get("requests") or {})]
    ids = ",".join(str(item) for item in assigned.get("gpus") or [])
    for part, variable in GPU_VARIABLES:
        if ids and any(part in name for name in names):
            return {variable: ids}
    return {}


def submitted(env: Mapping[str, str], gpus: Mapping[str, str]) -> Mapping[str, str]:
    """What the submitter had; where a container has GPUs of its own, without a choice of others."""
    if not gpus:
        return env
    return {name: value for name, value in env.items() if name not in GPU_CHOICES}


def command_line(container: Json, env: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Command and arguments, expanded; empty where the image alone would know them."""
    command: Sequence[Any] = container.get("command") or []
    args: Sequence[Any] = container.get("args") or []
    return [expand(str(part), env) for part in command], [expand(str(part), env) for part in args]
