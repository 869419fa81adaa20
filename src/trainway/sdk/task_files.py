"""The local files of tasks that travel to pods: workdir and file mounts, less what is ignored.

They go along as one ConfigMap, as scripts do (`bundle`); what the backend does with one that is too
large for Kubernetes is its own affair.
"""

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainway.api.task import ignore
from trainway.api.task.task import Task
from trainway.api.task.task_file import TaskFile
from trainway.api.task.task_object import Brought, mount_place, workdir_place
from trainway.errors import UnreadableError, UsageError
from trainway.sdk.bundle import LARGEST

Json = dict[str, Any]


def brought(file: TaskFile, directory: Path) -> list[Brought]:
    """All that the tasks of a file take along; relative paths are below the directory."""
    found = [
        item for index, task in enumerate(file.tasks) for item in _of_task(task, index, directory)
    ]
    size = sum(len(item.content) for item in found)
    if size > LARGEST:
        largest = max(found, key=lambda item: len(item.content))
        raise UsageError(
            f"{size / 1e6:.1f} MB would have to travel to the pods, the largest {largest.path}; "
            f"at most {LARGEST // 1_000_000} MB can",
            hint=f"name what is to stay here in {ignore.SKYIGNORE}, or use a volume",
        )
    return found


def config_map(name: str, items: list[Brought]) -> Json:
    """The ConfigMap of the files."""
    content = {item.key: base64.b64encode(item.content).decode() for item in items}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "binaryData": content,
    }


def _of_task(task: Task, index: int, directory: Path) -> Iterator[Brought]:
    if task.workdir:
        folder = directory / Path(task.workdir).expanduser()
        if not folder.is_dir():
            raise UnreadableError(f"workdir: {task.workdir}: it is no folder")
        yield from _of_folder(folder, workdir_place(index))
    for number, mount in enumerate(task.file_mounts):
        if not mount.is_local:
            continue
        source, place = directory / Path(mount.source).expanduser(), mount_place(index, number)
        if source.is_dir():
            yield from _of_folder(source, place)
        else:
            yield _read(source, place)


def _of_folder(folder: Path, place: str) -> Iterator[Brought]:
    """The files below a folder, in order; links are followed as far as they lead to files."""
    rules = _rules(folder)
    for root, folders, names in os.walk(folder):
        below = Path(root).relative_to(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not rules.excludes((below / name).as_posix(), is_folder=True)
        )
        for name in sorted(names):
            path = below / name
            if not rules.excludes(path.as_posix()) and (folder / path).is_file():
                yield _read(folder / path, f"{place}/{path.as_posix()}")


def _rules(folder: Path) -> ignore.Ignore:
    names = [name for name in (ignore.SKYIGNORE, ignore.GITIGNORE) if (folder / name).is_file()]
    chosen = ignore.chosen(names)
    text = (folder / chosen).read_text("utf-8", "replace") if chosen else ""
    return ignore.parse(text.splitlines())


def _read(path: Path, place: str) -> Brought:
    try:
        return Brought(place, path.read_bytes(), is_program=os.access(path, os.X_OK))
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from None
