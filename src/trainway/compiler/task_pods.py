"""Roles of tasks, and what their `config` says about pods on Kubernetes."""

import copy
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Final

from trainway.api.task.task import Task
from trainway.json_types import Json
from trainway.schema.field import FieldError

SINGLE: Final = "node"
"""The role of a task that is alone, as of any job of one kind of node."""
_LONGEST: Final = 20
_POD: Final = ("spec", "replicatedJobs", None, "template", "spec", "template")
"""Where a JobSet has its pods; None stands for any number."""


def names_of(tasks: Sequence[Task]) -> list[str]:
    """The role of each task: its name as Kubernetes takes it, and no two the same."""
    if len(tasks) == 1:
        return [SINGLE]
    names: list[str] = []
    for index, task in enumerate(tasks):
        words = re.sub("[^a-z0-9]+", "-", task.name.lower()).strip("-")
        whole = words if words[:1].isalpha() else f"task-{words or index}"
        name, numbers = _cut(whole), count(index)
        while name in names:
            name = _cut(whole, f"-{next(numbers)}")
        names.append(name)
    return names


def _cut(name: str, end: str = "") -> str:
    """The name with an end, as long as a role may be: names of jobs and pods have it in them."""
    return f"{name[: _LONGEST - len(end)].rstrip('-')}{end}"


def with_config(pod: Json, config: Json) -> Json:
    """The pod template with `kubernetes.pod_config` and `kubernetes.custom_metadata` in it."""
    settings = config.get("kubernetes") or {}
    metadata = settings.get("custom_metadata") or {}
    merged: Json = _merged(pod, {"metadata": metadata}) if metadata else pod
    done: Json = _merged(merged, settings.get("pod_config") or {})
    return done


def as_written(error: FieldError) -> FieldError:
    """An error of the compiled pod, at the place in the task that it comes from."""
    head = error.path[: len(_POD)]
    if len(head) == len(_POD) and all(
        want in (None, got) for want, got in zip(_POD, head, strict=True)
    ):
        path = ("config", "kubernetes", "pod_config", *error.path[len(_POD) :])
        return replace(error, path=path)
    return error


def _merged(base: Any, more: Any) -> Any:
    """Objects are merged, lists go on; a list of containers or of named things goes by name."""
    if isinstance(base, dict) and isinstance(more, dict):
        result = dict(base)
        for key, value in more.items():
            result[key] = _merged(base[key], value) if key in base else copy.deepcopy(value)
        return result
    if isinstance(base, list) and isinstance(more, list):
        return _merged_lists(base, more)
    return copy.deepcopy(more)


def _merged_lists(base: list[Any], more: list[Any]) -> list[Any]:
    result = list(base)
    for index, item in enumerate(more):
        name = item.get("name") if isinstance(item, dict) else None
        place = next(
            (
                position
                for position, old in enumerate(base)
                if name is not None and isinstance(old, dict) and old.get("name") == name
            ),
            None,
        )
        if name is None and index < len(base) and _is_container(base[index]):
            place = index  # SkyPilot's users leave out the name of the one container
        if place is None:
            result.append(copy.deepcopy(item))
        else:
            result[place] = _merged(result[place], item)
    return result


def _is_container(item: Any) -> bool:
    return isinstance(item, dict) and "command" in item
