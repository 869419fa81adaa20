"""The files that a job left, as somebody browses them: a directory at a time, no link followed."""

import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Final

from trainway.backends import job_file
from trainway.errors import NotFoundError, UsageError

MOST_ENTRIES: Final = 1_000
_MOST_READ: Final = 20_000
"""How many names of a directory are looked at to find the first ones."""


class Kind(StrEnum):
    """What an entry is."""

    FOLDER = "folder"
    FILE = "file"
    OTHER = "other"
    """A link, a pipe, or a name that is not text: it is there, and cannot be opened here."""


@dataclass(frozen=True)
class OutputEntry:
    """Something in a directory."""

    name: str
    kind: Kind
    size: int
    modified: str


@dataclass(frozen=True)
class OutputFolder:
    """What is in a directory, by name, directories first."""

    entries: list[OutputEntry]
    is_complete: bool


def place_in(output: Path, path: str) -> Path:
    """Where a path leads that is given relative to the output; never out of it."""
    parts = PurePosixPath(path).parts
    if "\0" in path or any(part in ("/", os.pardir) for part in parts):
        raise UsageError(f"not a path in the output of the job: {path[:80]!r}", field="path")
    return output.joinpath(*parts)


def listed(output: Path, path: str) -> OutputFolder:
    """What is in a directory of the output; nothing, where the job has left none."""
    place = place_in(output, path)
    try:
        with job_file.folder(output.parent, place) as above:
            opened = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above)
    except FileNotFoundError:
        if place == output:
            return OutputFolder([], is_complete=True)
        raise NotFoundError(f"there is no directory {path!r}", field="path") from None
    except job_file.RefusedFileError as error:
        raise NotFoundError(f"{path!r} cannot be listed: {error.why}", field="path") from None
    try:
        with os.scandir(opened) as entries:
            names = [entry.name for entry in islice(entries, _MOST_READ + 1)]
        found = [_entry(opened, name) for name in names[:_MOST_READ]]
    finally:
        os.close(opened)
    found.sort(key=lambda entry: (entry.kind is not Kind.FOLDER, entry.name))
    return OutputFolder(found[:MOST_ENTRIES], is_complete=len(names) <= MOST_ENTRIES)


def opened_file(output: Path, path: str) -> tuple[IO[bytes], int]:
    """A file of the output, and its size now."""
    place = place_in(output, path)
    if place == output:
        raise UsageError("the path of a file is missing", field="path")
    try:
        file = job_file.reader(output.parent, place)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path!r}", field="path") from None
    except job_file.RefusedFileError as error:
        raise NotFoundError(f"{path!r} cannot be read: {error.why}", field="path") from None
    except PermissionError:
        raise NotFoundError(
            f"{path!r} cannot be read: the server may not open it", field="path"
        ) from None
    return file, os.fstat(file.fileno()).st_size


def _entry(folder: int, name: str) -> OutputEntry:
    shown = os.fsencode(name).decode("utf-8", "backslashreplace")
    try:
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:  # it was removed meanwhile
        return OutputEntry(shown, Kind.OTHER, 0, "")
    modified = datetime.fromtimestamp(max(0, min(facts.st_mtime, 2**36)), UTC)
    kind = Kind.OTHER
    if shown == name:
        if stat.S_ISDIR(facts.st_mode):
            kind = Kind.FOLDER
        elif stat.S_ISREG(facts.st_mode):
            kind = Kind.FILE
    size = facts.st_size if kind is Kind.FILE else 0
    return OutputEntry(shown, kind, size, modified.strftime("%Y-%m-%dT%H:%M:%SZ"))
