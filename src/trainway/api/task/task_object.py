"""A file of tasks as an object, the form in which it is submitted, stored and shown.

Values of secrets are not in it: they travel in a Secret beside it, which is masked wherever objects
are shown. What a task needs to know of its submitter stands under `origin`.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from trainway.api.task.task_file import TaskFile, read_documents
from trainway.api.task.variables import MASK
from trainway.jobset.labels import TASK_SECRETS
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid, required

API_VERSION: Final = "trainway.dev/v1alpha1"
KIND: Final = "Task"


@dataclass(frozen=True)
class Origin:
    """Who submitted a task, when and where."""

    at: str = ""
    """The time, as SkyPilot writes it in ids: 2026-11-15-12-00-00-000000."""
    by: str = ""
    directory: str = ""
    home: str = ""
    cluster: str = ""
    """The cluster that it is for, where it is for one."""


@dataclass(frozen=True)
class Part:
    """Which task of a pipeline an object is."""

    of: str = ""
    """The pipeline; empty: it is a task by itself."""
    role: str = ""
    """What its nodes are called in logs."""
    outputs: Mapping[str, str] = field(default_factory=dict)
    """The output directories of other tasks that it reads, by task."""

    def to_dict(self) -> Json:
        """As the object has it."""
        return {key: value for key, value in asdict(self).items() if value}


@dataclass(frozen=True)
class Brought:
    """A file of the submitter that travels with a job."""

    path: str
    """Below the folder in which pods find all of them."""
    content: bytes = b""
    is_program: bool = False
    source: str = ""
    """Where it is on the submitter's machine, if it is too large for its content to be here."""
    size: int = 0
    """How many bytes it has there."""

    @property
    def key(self) -> str:
        """The key of a ConfigMap, which has no slash."""
        return hashlib.sha256(self.path.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def workdir_place(task: int) -> str:
    """Where the workdir of a task is among them."""
    return f"{task}/workdir"


def mount_place(task: int, number: int) -> str:
    """Where a file mount is, which may be a file or a folder."""
    return f"{task}/mount-{number}"


@dataclass(frozen=True)
class StorageKeys:
    """The Secret with what a task needs to reach its buckets, and the variables that are in it."""

    secret: str = ""
    names: tuple[str, ...] = ()

    def to_dict(self) -> Json:
        """As the object has it."""
        return {"secret": self.secret, "variables": list(self.names)}


@dataclass(frozen=True)
class TaskJob:
    """An object read again."""

    name: str
    file: TaskFile
    namespace: str = ""
    secrets: tuple[tuple[str, ...], ...] = ()
    """The names of each task's secrets."""
    secret_name: str = ""
    """The Secret that has their values."""
    storage: tuple[StorageKeys, ...] = ()
    """What each task has for its buckets."""
    origin: Origin = Origin()
    files: tuple[Brought, ...] = ()
    """What travels with it, without the content."""
    files_name: str = ""
    """The ConfigMap that has them."""
    notes: tuple[str, ...] = ()
    """What the submitter should know of the text that it was made from."""
    part: Part = field(default_factory=Part)


def secret_name(name: str) -> str:
    """What the Secret of a job is called."""
    return f"{name}-secrets"


def storage_secret_name(name: str) -> str:
    """What the Secret is called that has what a job needs to reach its buckets."""
    return f"{name}-storage"


def files_name(name: str) -> str:
    """What the ConfigMap of a job's files is called."""
    return f"{name}-files"


def secret_key(tasks: int, index: int, name: str) -> str:
    """Where the Secret has the value of one task's secret."""
    return name if tasks == 1 else f"task-{index}.{name}"


def objects_of(
    file: TaskFile,
    name: str,
    origin: Origin = Origin(),  # noqa: B008 - it is frozen
    *,
    notes: Sequence[str] = (),
    files: Sequence[Brought] = (),
    masked: bool = False,
) -> list[Json]:
    """The Secret, where there are secrets, and the Task."""
    tasks = [
        {
            "task": {key: value for key, value in task.shown.items() if key != "secrets"},
            "secrets": list(task.secrets),
        }
        for task in file.tasks
    ]
    values = {
        secret_key(len(tasks), index, key): MASK if masked else value
        for index, task in enumerate(file.tasks)
        for key, value in task.secrets.items()
    }
    spec: Json = {"tasks": tasks}
    if file.header:
        spec["header"] = file.header
    if values:
        spec["secretName"] = secret_name(name)
    obj: Json = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}
    given = {key: value for key, value in asdict(origin).items() if value}
    if given:
        obj["origin"] = given
    if files:
        spec["filesName"] = files_name(name)
        obj["files"] = [{"path": item.path, "isProgram": item.is_program} for item in files]
    if notes:
        obj["notes"] = list(notes)
    return [*([secret(name, values)] if values else []), obj]


def secret(name: str, values: Mapping[str, str], called: str = "") -> Json:
    """The Secret with the values, which carries a label so that it is known again."""
    metadata = {"name": called or secret_name(name), "labels": {TASK_SECRETS: name}}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "stringData": dict(values),
    }


def is_task_secret(obj: Json) -> bool:
    """Whether it is the Secret of a task."""
    metadata = obj.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return obj.get("kind") == "Secret" and isinstance(labels, dict) and TASK_SECRETS in labels


def without_values(objects: Sequence[Json]) -> list[Json]:
    """The objects with no value of a task's secret in them."""
    return [
        {**obj, "stringData": dict.fromkeys(obj.get("stringData") or (), MASK)}
        if is_task_secret(obj)
        else obj
        for obj in objects
    ]


def read(obj: Json) -> tuple[TaskJob | None, list[FieldError]]:
    """The job of an object, or what is wrong with it."""
    metadata, spec = obj.get("metadata"), obj.get("spec")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str) or not name:
        return None, [required(("metadata", "name"))]
    items = spec.get("tasks") if isinstance(spec, dict) else None
    if not (isinstance(items, list) and items and all(_is_item(item) for item in items)):
        return None, [invalid(("spec", "tasks"), items, "must be a list of tasks")]
    header = spec.get("header") if isinstance(spec, dict) else None
    documents = [*([header] if header else []), *(item["task"] for item in items)]
    parsed = read_documents(documents)
    if parsed.file is None:
        return None, [item.error for item in parsed.errors]
    if len(parsed.file.tasks) != len(items):
        return None, [invalid(("spec", "header"), header, "it is not a header")]
    origin, notes = obj.get("origin"), obj.get("notes")
    known = Origin.__dataclass_fields__
    told = origin if isinstance(origin, dict) else {}
    job = TaskJob(
        name=name,
        file=parsed.file,
        namespace=str(metadata.get("namespace") or ""),
        secrets=tuple(tuple(item.get("secrets") or ()) for item in items),
        secret_name=str(spec.get("secretName") or "") if isinstance(spec, dict) else "",
        storage=tuple(_storage_keys(item.get("storage")) for item in items),
        origin=Origin(**{key: str(value) for key, value in told.items() if key in known}),
        files_name=str(spec.get("filesName") or "") if isinstance(spec, dict) else "",
        files=tuple(_files(obj.get("files"))),
        notes=tuple(str(note) for note in notes) if isinstance(notes, list) else (),
        part=_part(obj.get("part")),
    )
    return job, []


def _storage_keys(given: Any) -> StorageKeys:
    told = given if isinstance(given, dict) else {}
    names = told.get("variables")
    known = names if isinstance(names, list) else ()
    return StorageKeys(str(told.get("secret") or ""), tuple(str(name) for name in known))


def _part(given: Any) -> Part:
    told = given if isinstance(given, dict) else {}
    outputs = told.get("outputs")
    known = outputs.items() if isinstance(outputs, dict) else ()
    paths = {str(task): str(path) for task, path in known}
    return Part(str(told.get("of") or ""), str(told.get("role") or ""), paths)


def _files(given: Any) -> Iterator[Brought]:
    for item in given if isinstance(given, list) else ():
        if isinstance(item, dict) and isinstance(item.get("path"), str):
            yield Brought(item["path"], is_program=bool(item.get("isProgram")))


def _is_item(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("task"), dict):
        return False
    secrets = item.get("secrets") or []
    return isinstance(secrets, list) and all(isinstance(name, str) for name in secrets)
