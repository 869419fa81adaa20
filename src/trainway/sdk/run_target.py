"""What `Client.run` runs: a function, a script, a manifest or objects, as objects of a job."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.manifests import Wishes
from trainway.sdk.run_options import RunOptions
from trainway.sdk.targets import (
    MANIFESTS,
    SCRIPT,
    checked_objects,
    function_objects,
    manifest_objects,
    read_manifest,
    script_objects,
)

if TYPE_CHECKING:
    from trainway.sdk.task_places import TaskPlaces

Target = Callable[..., Any] | str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]]


def objects_of(target: Target, wishes: Wishes, options: RunOptions) -> list[Json]:
    """The objects that it becomes, for the place that the wishes name."""
    args, kwargs = options.args, options.kwargs
    if callable(target):
        from trainway.sdk.functions import captured  # noqa: PLC0415 - inspect is slow to import

        return function_objects(captured(target, args, kwargs), wishes)
    if kwargs:
        raise UsageError("kwargs are for functions")
    if isinstance(target, str | Path):
        path = Path(target)
        if path.suffix == SCRIPT:
            return script_objects(str(path), [str(arg) for arg in args], wishes)
        if path.suffix in MANIFESTS:
            return manifest_objects(read_manifest(path), str(path), wishes)
        raise UsageError(f"{path} is neither a Python script nor a manifest")
    items = _items(target)
    if not any("kind" in item or "apiVersion" in item for item in items):
        from trainway.api.task.task_file import looks_like_tasks  # noqa: PLC0415 - only for tasks
        from trainway.sdk.tasks import run_documents  # noqa: PLC0415 - as above

        if looks_like_tasks(items):
            return run_documents(items, wishes)
    return checked_objects(items, "the objects", wishes)


def places_of_tasks(target: Target, wishes: Wishes) -> "dict[str, TaskPlaces]":
    """The places that each task names itself, by its title; empty of what is no task."""
    given: str | list[Json]
    if callable(target):
        return {}
    if isinstance(target, str | Path):
        path = Path(target)
        given = read_manifest(path) if path.suffix in MANIFESTS else ""
        is_task = "resources" in given and "apiVersion" not in given
    else:
        given = _items(target)
        is_task = any("resources" in item for item in given)
        is_task = is_task and not any("apiVersion" in item for item in given)
    if not is_task:
        return {}
    from trainway.sdk.tasks import own_places  # noqa: PLC0415 - only for tasks

    return own_places(given, wishes)


def _items(target: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[Json]:
    return [dict(item) for item in ([target] if isinstance(target, Mapping) else target)]
