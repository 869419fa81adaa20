"""A Task of several tasks as several Tasks of one, each with its secrets and files and no others.

So the tasks of a pipeline become jobs of their own. Where the values of secrets and the files are,
follows from the rank of a task in its object; a task that is alone has the first.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trainway.api.task.task_object import (
    Brought,
    Part,
    TaskJob,
    files_name,
    secret,
    secret_key,
)
from trainway.json_types import Json

_LONGEST: Final = 48
"""The 63 characters of a pod's name, less what follows the role there: -0-999-xxxxx, and dashes."""


def parts(
    obj: Json, job: TaskJob, others: Sequence[Json], roles: Sequence[str]
) -> list[list[Json]]:
    """The objects of each task; `job` is what the object says, `others` came with it."""
    splitting = _Splitting(obj, job, others)
    return [splitting.part(rank, role) for rank, role in enumerate(roles)]


def part_name(pipeline: str, role: str) -> str:
    """What the job of a task is called; the pods, which have the role in their names, fit too."""
    room = _LONGEST - 2 * len(role)
    return f"{pipeline[:room].rstrip('-.')}-{role}"


def with_outputs(objects: Sequence[Json], outputs: Mapping[str, str]) -> list[Json]:
    """The objects of a part, which is told where the outputs of other tasks are."""
    return [
        {**obj, "part": {**obj["part"], "outputs": dict(outputs)}} if "part" in obj else obj
        for obj in objects
    ]


class _Splitting:
    def __init__(self, obj: Json, job: TaskJob, others: Sequence[Json]) -> None:
        self.obj = obj
        self.job = job
        self.secret = _named(others, "Secret", job.secret_name)
        self.files = _named(others, "ConfigMap", job.files_name)
        self.others = [item for item in others if item not in (self.secret, self.files)]

    def part(self, rank: int, role: str) -> list[Json]:
        """The objects of one task."""
        name = part_name(self.job.name, role)
        item = self.obj["spec"]["tasks"][rank]
        task = {key: value for key, value in item["task"].items() if key != "depends_on"}
        spec: Json = {"tasks": [{**item, "task": task}]}
        made: Json = {
            **{key: value for key, value in self.obj.items() if key not in ("files", "notes")},
            "metadata": {**self.obj["metadata"], "name": name},
            "spec": spec,
            "part": Part(self.job.name, role).to_dict(),
        }
        if self.obj.get("notes") and rank == 0:
            made["notes"] = self.obj["notes"]
        objects = [*self.others, made]
        values = self._values(rank)
        if values:
            objects.append(secret(name, values))
            spec["secretName"] = objects[-1]["metadata"]["name"]
        pairs = self._files(rank)
        if pairs and self.files is not None:
            made["files"] = [{"path": new.path, "isProgram": new.is_program} for _, new in pairs]
            spec["filesName"] = files_name(name)
            objects.append(_moved(self.files, files_name(name), pairs))
        return objects

    def _values(self, rank: int) -> dict[str, str]:
        """The secrets of a task, by variable."""
        if self.secret is None or rank >= len(self.job.secrets):
            return {}
        known = self.secret.get("stringData") or {}
        keys = {
            name: secret_key(len(self.job.file.tasks), rank, name)
            for name in self.job.secrets[rank]
        }
        return {name: known[key] for name, key in keys.items() if key in known}

    def _files(self, rank: int) -> list[tuple[Brought, Brought]]:
        """The files of a task, as they are and as the only task of an object has them."""
        mine = f"{rank}/"
        return [
            (file, Brought("0/" + file.path.removeprefix(mine), is_program=file.is_program))
            for file in self.job.files
            if file.path.startswith(mine)
        ]


def _named(objects: Sequence[Json], kind: str, name: str) -> Json | None:
    if not name:
        return None
    return next((obj for obj in objects if _is_named(obj, kind, name)), None)


def _is_named(obj: Json, kind: str, name: str) -> bool:
    metadata: Any = obj.get("metadata")
    return obj.get("kind") == kind and isinstance(metadata, dict) and metadata.get("name") == name


def _moved(files: Json, name: str, pairs: Sequence[tuple[Brought, Brought]]) -> Json:
    """A ConfigMap with some of the files of another, under their new keys."""
    moved: Json = {**files, "metadata": {**files["metadata"], "name": name}}
    for field in ("data", "binaryData"):
        values = files.get(field)
        if isinstance(values, dict):
            moved[field] = {new.key: values[old.key] for old, new in pairs if old.key in values}
    return moved
