"""Files of tasks, made into objects: what stands around `api.task` on the client's side."""

import getpass
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from trainway.api.task import pipeline, task_object
from trainway.api.task.task import Task, read
from trainway.api.task.task_file import SERIAL, Parsed, TaskFile, parse, parse_documents
from trainway.api.task.task_object import Origin
from trainway.api.task.variables import Overrides
from trainway.compiler.task import later, unresolved
from trainway.errors import InvalidError, ManifestError, UsageError
from trainway.jobset.job_name import job_name
from trainway.json_types import Json
from trainway.sdk.local_files import refuse_missing
from trainway.sdk.manifests import Wishes, named_wishes, refuse_elastic, set_timeout
from trainway.sdk.task_places import TaskPlaces, for_place, task_places
from trainway.sdk.task_storage import refuse_missing_sources, with_storage

_TAKEN: Final = (
    "name",
    "nodes",
    "env",
    "secret",
    "image",
    "restarts",
    "recover-on-exit-codes",
    "timeout",
)
"""The wishes that a task takes."""


def run_objects(text: str, source: str, wishes: Wishes) -> list[Json]:
    """The objects that run a file of tasks; InvalidError says what is wrong or comes later."""
    return _run(parse(text, Overrides(wishes.env, wishes.secrets)), source, wishes)


def run_documents(documents: Sequence[Json], wishes: Wishes) -> list[Json]:
    """The same for tasks that are no file."""
    parsed = parse_documents(documents, Overrides(wishes.env, wishes.secrets))
    return _run(parsed, "<task>", wishes)


def _run(parsed: Parsed, source: str, wishes: Wishes) -> list[Json]:
    _refuse(wishes)
    file = sound(parsed)
    problems = [*later(file.tasks), *unresolved(file.tasks)]
    if problems:
        raise InvalidError(problems)
    refuse_missing_files(file.tasks)
    refuse_missing_sources(file)
    file = _with_wishes(for_place(file, wishes.on), wishes)
    name = wishes.name or name_of(file, source)
    origin, notes = origin_here(), parsed.warnings
    if not wishes.travels:
        objects = task_object.objects_of(file, name, origin, notes=notes)
        return _limited(with_storage(objects, file, name), wishes)
    from trainway.sdk.task_files import brought, config_map, way_to  # noqa: PLC0415 - not for local jobs

    files = brought(file, Path.cwd(), way_to(wishes.on or ""))
    objects = task_object.objects_of(file, name, origin, notes=notes, files=files)
    maps = [config_map(task_object.files_name(name), files)] if files else []
    return [*maps, *_limited(with_storage(objects, file, name), wishes)]


def places_in(text: str, wishes: Wishes) -> TaskPlaces:
    """The places that a file of tasks names; none of a file that is no good, or something else."""
    own = own_places(text, wishes)
    return next(iter(own.values())) if len(own) == 1 else TaskPlaces()


def pipeline_places(text: str, wishes: Wishes) -> dict[str, TaskPlaces]:
    """The places that each task of a pipeline names; empty of a file that is something else."""
    own = own_places(text, wishes)
    return own if len(own) > 1 else {}


def own_places(given: str | Sequence[Json], wishes: Wishes) -> dict[str, TaskPlaces]:
    """The places that each task of a file or of documents names itself, by the task's title.

    A job group has one place for all, which none of its tasks names.
    """
    overrides = Overrides(wishes.env, wishes.secrets)
    try:
        if isinstance(given, str):
            parsed = parse(given, overrides)
        else:
            parsed = parse_documents(given, overrides)
    except ManifestError:  # whoever makes the job says what is wrong
        return {}
    file = parsed.file
    if file is None or (len(file.tasks) > 1 and file.execution != SERIAL):
        return {}
    titles = pipeline.titles(file.tasks)
    return {title: task_places([task]) for title, task in zip(titles, file.tasks, strict=True)}


def titles_of(objects: Sequence[Json]) -> list[str]:
    """What the tasks of a file are called that was made into objects."""
    (obj,) = (each for each in objects if each.get("kind") == task_object.KIND)
    job, errors = task_object.read(obj)
    if job is None:
        raise InvalidError([str(error) for error in errors])
    return pipeline.titles(job.file.tasks)


def shown_objects(text: str, source: str, wishes: Wishes) -> list[Json]:
    """The objects of a file of tasks that is only looked at, with no secret in them."""
    _refuse(wishes)
    parsed = parse(text, Overrides(wishes.env, wishes.secrets))
    if parsed.is_volume and not parsed.errors:
        return []
    file = _with_wishes(sound(parsed), wishes)
    name = wishes.name or name_of(file, source)
    objects = task_object.objects_of(file, name, notes=parsed.warnings, masked=True)
    return _limited(objects, wishes)


def refuse_missing_files(tasks: Sequence[Task]) -> None:
    """Raise for files of this machine that the tasks name and that are not there."""
    for index, task in enumerate(tasks):
        mounts = [(mount.path, mount.source) for mount in task.file_mounts if mount.is_local]
        prefix = f"task {task.name or index}: " if len(tasks) > 1 else ""
        refuse_missing(task.workdir, mounts, prefix)


def _refuse(wishes: Wishes) -> None:
    refused = [wish for wish in named_wishes(wishes) if wish not in _TAKEN]
    if refused:
        raise UsageError(f"{refused[0]} cannot be set for a task", hint="set it in the file")


def _limited(objects: list[Json], wishes: Wishes) -> list[Json]:
    """The objects, whose Task is told how long it may run."""
    for obj in objects:
        if obj["kind"] == task_object.KIND:
            set_timeout(obj, wishes.timeout)
    return objects


def sound(parsed: Parsed) -> TaskFile:
    """The file, or an InvalidError with all that is wrong with it."""
    if parsed.is_volume and not parsed.errors:
        raise UsageError("this file describes a volume", hint="it contains nothing to run")
    if parsed.file is None:
        raise InvalidError([str(error) for error in parsed.errors])
    return parsed.file


def name_of(file: TaskFile, source: str) -> str:
    """The name of the job: that of the file's header or task, else that of the file."""
    return job_name(file.name or (Path(source).stem if not source.startswith("<") else "task"))


def priority_of(objects: Sequence[Json]) -> int:
    """The priority that a task among the objects asks for."""
    for obj in objects:
        if (obj.get("apiVersion"), obj.get("kind")) == (task_object.API_VERSION, task_object.KIND):
            job, _ = task_object.read(obj)
            return max(task.priority for task in job.file.tasks) if job else 0
    return 0


def origin_here() -> Origin:
    """Who submits, and from where."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # no name for the user's number
        user = str(os.getuid())
    now = datetime.now(UTC).strftime("%Y-%m-%d-%H-%M-%S-%f")
    return Origin(at=now, by=user, directory=str(Path.cwd()), home=str(Path.home()))


def _with_wishes(file: TaskFile, wishes: Wishes) -> TaskFile:
    changes: Json = {}
    refuse_elastic(wishes, "a task")
    if wishes.nodes is not None:
        changes["num_nodes"] = wishes.nodes
    resources: Json = {}
    if wishes.image is not None:
        resources["image_id"] = f"docker:{wishes.image}"
    recovery: Json = {}
    if wishes.restarts:
        recovery["max_restarts_on_errors"] = wishes.restarts
    if wishes.recover_on_exit_codes:
        recovery["recover_on_exit_codes"] = list(wishes.recover_on_exit_codes)
    if recovery:
        resources["job_recovery"] = recovery
    if not changes and not resources:
        return file
    if len(file.tasks) > 1:
        raise UsageError(f"there are {len(file.tasks)} tasks", hint="set it in the file")
    documents = [_changed(task.to_dict(), changes, resources) for task in file.tasks]
    return TaskFile(_tasks(documents), file.name, file.execution, file.header)


def _changed(document: Json, changes: Mapping[str, Any], resources: Mapping[str, Any]) -> Json:
    if not resources:
        return {**document, **changes}
    given = document.get("resources") or {}
    merged = _overridden(given, resources)
    for how in ("any_of", "ordered"):
        if given.get(how):  # what an alternative says itself would count instead
            merged[how] = [
                _overridden(each, {name: new for name, new in resources.items() if name in each})
                for each in given[how]
            ]
    return {**document, **changes, "resources": merged}


def _overridden(given: Json, resources: Mapping[str, Any]) -> Json:
    """Resources with others in their place; of `job_recovery` what is said beside it stays."""
    merged = {**given, **resources}
    if "job_recovery" in resources:
        said = given.get("job_recovery")
        known = said if isinstance(said, dict) else {"strategy": said} if said else {}
        merged["job_recovery"] = {**known, **resources["job_recovery"]}
    return merged


def _tasks(documents: Sequence[Json]) -> tuple[Task, ...]:
    found = [read(document) for document in documents]
    errors = [str(error) for item in found for error in item.errors]
    if errors:
        raise InvalidError(errors)
    return tuple(item.task for item in found if item.task is not None)
