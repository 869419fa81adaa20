"""Catalog files that were fetched: what is in one is remembered, so that no edit is ever lost."""

import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from trainway.catalog.csv_format import rows
from trainway.errors import ConflictError, UnreadableError

_NOTES: Final = ".fetched.json"


class State(StrEnum):
    """What is known of a file."""

    ABSENT = "absent"
    FETCHED = "fetched"
    """It is as it was fetched."""
    EDITED = "edited"
    """Somebody has changed it, or made it."""


@dataclass(frozen=True)
class Note:
    """What was fetched last."""

    sha256: str
    source: str
    time: str
    before: str = ""
    """The digest of the file that it replaces: a process may be killed before it does."""


def notes(folder: Path) -> dict[str, Note]:
    """What was fetched, by the names of files; a note that cannot be read is none."""
    try:
        data = json.loads((folder / _NOTES).read_text("utf-8"))
        return {name: Note(**note) for name, note in data.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def state(folder: Path, cloud: str) -> State:
    """What the file of a cloud is; a packed one was not fetched by us."""
    if (folder / f"{cloud}.csv.gz").exists():
        return State.EDITED
    try:
        found = (folder / f"{cloud}.csv").read_bytes()
    except FileNotFoundError:
        return State.ABSENT
    except OSError as error:
        raise UnreadableError(f"{folder / cloud}.csv cannot be read: {error.strerror}") from None
    note = notes(folder).get(cloud)
    is_ours = note is not None and _digest(found) in (note.sha256, note.before)
    return State.FETCHED if is_ours else State.EDITED


def refuse_edited(folder: Path, cloud: str) -> None:
    """Raise where the file of a cloud is somebody's own."""
    if state(folder, cloud) is State.EDITED:
        raise ConflictError(
            f"{folder / cloud}.csv was edited, so it stays as it is",
            hint="Move it away to have the file fetched anew.",
        )


def keep(folder: Path, cloud: str, text: str, source: str, time: str) -> int:
    """Put a catalog in the place of the one that was fetched before; how many offers it has.

    What is remembered is written first, with what the file is until then: whoever is killed in
    between leaves a file that is known, and one that somebody edits at that moment is not.
    """
    refuse_edited(folder, cloud)
    count = sum(1 for _ in rows(text.splitlines(), source))
    if not count:
        raise UnreadableError(f"{source} has no offer", hint="The file that is there is kept.")
    data = text.encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{cloud}.csv"
    before = _digest(path.read_bytes()) if path.exists() else ""
    known = notes(folder) | {cloud: Note(_digest(data), source, time, before)}
    _write(folder / _NOTES, json.dumps({name: asdict(note) for name, note in known.items()}))
    _write(path, text)
    return count


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(path: Path, text: str) -> None:
    """Write a file so that it is there as a whole, or not at all."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=path.parent, prefix=".new-", delete=False
        ) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(path)
    except OSError as error:
        raise UnreadableError(f"{path} cannot be written: {error.strerror}") from None
