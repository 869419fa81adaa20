"""The local files of tasks that travel: workdir and file mounts, less what is ignored.

They go along as one ConfigMap, as scripts do (`bundle`). Where a job runs on hosts, larger ones go
to the server ahead of it (`file_upload`), and the ConfigMap only names them; elsewhere it has their
content, and what the backend does with one that is too large for Kubernetes is its own affair.
"""

import base64
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainway.api.task import ignore
from trainway.api.task.task import Task
from trainway.api.task.task_file import TaskFile
from trainway.api.task.task_object import Brought, mount_place, workdir_place
from trainway.errors import UnreadableError, UsageError
from trainway.families.family import Files
from trainway.families.table import family_of
from trainway.json_types import Json
from trainway.sdk import bundle
from trainway.sdk.file_upload import local_file

LARGEST: Final = 4_000_000_000
"""The most bytes of files, all together, that may go to hosts."""
_INLINE: Final = 1_000_000
"""Up to so many bytes, all together, the ConfigMap has the content itself."""
_SHOWN: Final = 3
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True)
class Way:
    """How files get to where a job runs."""

    where: str
    largest: int
    """The most bytes that all files may have together."""
    is_streamed: bool
    """Whether the content need not be in the objects."""


def way_to(backend: str) -> Way:
    """The way to the jobs of a backend."""
    if family_of(backend).files is Files.STREAMED:
        return Way(backend, LARGEST, is_streamed=True)
    return Way(backend, bundle.LARGEST, is_streamed=False)


@dataclass(frozen=True)
class _Found:
    """A file that belongs to a task."""

    place: str
    path: Path
    size: int
    is_program: bool
    part: str
    """The part of the task's files that it counts to, for whoever must leave something out."""


def brought(file: TaskFile, directory: Path, way: Way) -> list[Brought]:
    """All that the tasks of a file take along; relative paths are below the directory."""
    found = [
        item for index, task in enumerate(file.tasks) for item in _of_task(task, index, directory)
    ]
    size = sum(item.size for item in found)
    if size > way.largest:
        raise _too_much(found, size, way)
    if way.is_streamed and size > _INLINE:
        return [
            Brought(item.place, is_program=item.is_program, source=str(item.path), size=item.size)
            for item in found
        ]
    return [Brought(item.place, _content(item.path), is_program=item.is_program) for item in found]


def config_map(name: str, items: list[Brought]) -> Json:
    """The ConfigMap of the files."""
    content = {
        item.key: local_file(Path(item.source), item.size)
        if item.source
        else base64.b64encode(item.content).decode()
        for item in items
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "binaryData": content,
    }


def _too_much(found: Sequence[_Found], size: int, way: Way) -> UsageError:
    parts: Counter[str] = Counter()
    for item in found:
        parts[item.part] += item.size
    largest = ", ".join(f"{name} {_amount(part)}" for name, part in parts.most_common(_SHOWN))
    return UsageError(
        f"{_amount(size)} of files would have to be sent to {way.where}, and the limit is "
        f"{way.largest // _MEGABYTE} MB; most of it is in {largest}",
        hint=f"list what is not needed in {ignore.SKYIGNORE} or {ignore.GITIGNORE}; put data on a "
        "volume",
    )


def _amount(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB"


def _of_task(task: Task, index: int, directory: Path) -> Iterator[_Found]:
    if task.workdir:
        folder = directory / Path(task.workdir).expanduser()
        if not folder.is_dir():
            raise UnreadableError(f"workdir: {task.workdir}: it is not a folder")
        yield from _of_folder(folder, workdir_place(index), task.workdir)
    for number, mount in enumerate(task.file_mounts):
        if not mount.is_local:
            continue
        source, place = directory / Path(mount.source).expanduser(), mount_place(index, number)
        if source.is_dir():
            yield from _of_folder(source, place, mount.source)
        else:
            yield _looked_at(source, place, mount.source)


def _of_folder(folder: Path, place: str, name: str) -> Iterator[_Found]:
    """The files below a folder, in order; links are followed as far as they lead to files."""
    rules = _rules(folder)
    for root, folders, names in os.walk(folder):
        below = Path(root).relative_to(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not rules.excludes((below / name).as_posix(), is_folder=True)
        )
        part = os.path.normpath(os.path.join(name, *below.parts[:1]))  # noqa: PTH118 - as it is written
        for file in sorted(names):
            path = below / file
            if not rules.excludes(path.as_posix()) and (folder / path).is_file():
                own = f"{part}/" if below.parts else f"{part}/{file}"
                yield _looked_at(folder / path, f"{place}/{path.as_posix()}", own)


def _rules(folder: Path) -> ignore.Ignore:
    names = [name for name in (ignore.SKYIGNORE, ignore.GITIGNORE) if (folder / name).is_file()]
    chosen = ignore.chosen(names)
    text = (folder / chosen).read_text("utf-8", "replace") if chosen else ""
    return ignore.parse(text.splitlines())


def _looked_at(path: Path, place: str, part: str) -> _Found:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from None
    return _Found(place, path, size, os.access(path, os.X_OK), part.removeprefix("./"))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> UnreadableError:
    return UnreadableError(f"{path}: {error.strerror}")
