"""Brings what other tasks of a pipeline have written to where a task runs.

The server has the output of every job that ran on a machine that an agent of ours looks after. A
task on this machine reads it there; to another place it goes ahead of the task, as its own files
do. Links in an output are left out, since they would lead to files of the server.
"""

import asyncio
import base64
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from trainway.api.task.task_inputs import input_place, with_inputs
from trainway.api.task.task_parts import with_outputs
from trainway.backends import job_file
from trainway.backends.capabilities import KeepsOutput
from trainway.backends.file_store import FileStore
from trainway.backends.hand_over import HandsOver
from trainway.backends.registry import Registry
from trainway.backends.sharing_host import shares_host
from trainway.compiler.task_files import PLACE
from trainway.engine.ledger import Ledger
from trainway.engine.moving.move import Candidate
from trainway.engine.record import JobRecord
from trainway.engine.run.tasks import outputs_read
from trainway.errors import ConflictError
from trainway.families.family import Files, Runs
from trainway.families.table import family_of

LARGEST: Final = 4_000_000_000
"""The most bytes that go ahead of a task."""
LARGEST_INLINE: Final = 64_000_000
"""The most where they are part of the job."""
_INLINE: Final = 1_000_000
_PIECE: Final = 1 << 20
_EMPTY: Final = ".empty"
"""A file that stands for an output without any, so that its directory is there."""


def path_there(task: str) -> str:
    """Where a task finds the output of another one that was sent ahead."""
    return f"{PLACE}/{input_place(task)}"


async def brought(
    ledger: Ledger, registry: Registry, record: JobRecord, at: Candidate
) -> Candidate:
    """A task as it is for a place, with the outputs that it reads."""
    names = outputs_read(at.objects)
    if not names or record.run is None:
        return at
    jobs = await ledger.call(ledger.store.runs.task_jobs, record.run)
    missing = [name for name in names if name not in jobs]
    if missing:
        raise ConflictError(f"the job of the task {missing[0]} was deleted")
    folders: dict[str, Path] = {}
    for name in names:
        source = await ledger.call(ledger.store.get, jobs[name])
        folders[name] = _output(registry, source, name)
    if shares_host(registry.get(at.backend, at.kubeconfig)):
        paths = {name: str(folder) for name, folder in folders.items()}
        return replace(at, objects=with_outputs(at.objects, paths))
    is_streamed = family_of(at.backend).files is Files.STREAMED
    files = await asyncio.to_thread(
        _values, folders, registry.files if is_streamed else None, at.backend
    )
    paths = {name: path_there(name) for name in names}
    return replace(at, objects=with_outputs(with_inputs(at.objects, files), paths))


def _output(registry: Registry, source: JobRecord, task: str) -> Path:
    """Where the server has the output of a job."""
    backend = registry.of(source.backend, source.handle_data)
    if family_of(source.backend).runs is not Runs.PROCESSES or not isinstance(backend, KeepsOutput):
        raise ConflictError(
            f"the output of {task} is not on the server: it ran on {source.backend}"
        )
    stays = backend.why_stays(source.handle_data) if isinstance(backend, HandsOver) else ""
    if stays:
        raise ConflictError(f"the output of {task} cannot be had: {stays}")
    return backend.output(source.handle_data)


@dataclass(frozen=True)
class _File:
    """A file of an output."""

    place: str
    root: Path
    path: Path
    size: int


def _values(folders: Mapping[str, Path], store: FileStore | None, where: str) -> dict[str, Any]:
    """What stands for the files of outputs in a ConfigMap, by their places."""
    found = [file for task, root in folders.items() for file in _files(task, root)]
    size, most = sum(file.size for file in found), LARGEST if store else LARGEST_INLINE
    if size > most:
        raise ConflictError(
            f"{size / 1e6:.1f} MB of outputs would have to be sent to {where}, and the limit is "
            f"{most // 1_000_000} MB"
        )
    values: dict[str, Any] = {
        input_place(task, _EMPTY): ""
        for task in folders
        if not any(file.place.startswith(f"{input_place(task)}/") for file in found)
    }
    for file in found:
        try:
            if store is None or size <= _INLINE:
                values[file.place] = _content(file)
            else:
                values[file.place] = _sent(file, store)
        except OSError as error:
            raise ConflictError(f"{file.place}: {error.strerror or error}") from None
    return values


def _files(task: str, root: Path) -> Iterator[_File]:
    """The regular files below a folder, in order; no link is followed. None may be left out."""

    def refuse(error: OSError) -> None:
        if Path(error.filename) != root or not isinstance(error, FileNotFoundError):
            place = input_place(task, os.path.relpath(error.filename, root))
            raise ConflictError(f"{place}: {error.strerror or error}")

    for above, folders, names in os.walk(root, onerror=refuse):
        folders.sort()
        for name in sorted(names):
            path = Path(above, name)
            if path.is_symlink() or not path.is_file():
                continue
            place = input_place(task, path.relative_to(root).as_posix())
            yield _File(place, root, path, path.lstat().st_size)


def _content(file: _File) -> str:
    return base64.b64encode(b"".join(_pieces(file))).decode()


def _sent(file: _File, store: FileStore) -> dict[str, Any]:
    """Have the store keep a file."""
    digest = hashlib.sha256()
    for piece in _pieces(file):
        digest.update(piece)
    name = digest.hexdigest()
    if store.missing([name]):
        incoming = store.begin(name)
        try:
            for piece in _pieces(file):
                incoming.append(piece)
            incoming.finish()
        finally:
            incoming.close()
    return {"$file": name, "size": file.size}


def _pieces(file: _File) -> Iterator[bytes]:
    with os.fdopen(job_file.opened(file.root, file.path), "rb") as opened:
        while piece := opened.read(_PIECE):
            yield piece
