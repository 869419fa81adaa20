"""Databases that are damaged: found, and set aside.

A small one is looked through at every start. In a large one that takes too long, so it is done only
after a server has met damage in it; until then the file counts as suspect.
"""

import os
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Final

from trainway.engine.backup import move_database, reading
from trainway.engine.database_failure import DamagedError, database_error

_SMALL: Final = 16 << 20
_MOST_PROBLEMS: Final = 10


def problems(path: Path, *, deep: bool = True) -> list[str]:
    """What is wrong inside a database; an OperationalError that is no damage is raised."""
    check = "integrity_check" if deep else "quick_check"
    try:
        with reading(path) as connection:
            rows = connection.execute(f"PRAGMA {check}({_MOST_PROBLEMS})").fetchall()
    except sqlite3.Error as error:
        failure = database_error(error, str(path))
        if not isinstance(failure, DamagedError):
            raise failure from error
        return [str(error)]
    return [] if rows == [("ok",)] else [str(row[0]).replace("\n", " ") for row in rows]


def refuse_damaged(path: Path) -> None:
    """Raise a DamagedError if the database is damaged, as far as that is soon found."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return
    is_suspect = _mark(path).exists()
    if size == 0 and any(path.parent.glob("jobs/*/plan.json")):
        raise DamagedError(f"the database {path} is damaged: it is empty, and there are jobs")
    if size == 0 or (size > _SMALL and not is_suspect):
        return
    found = problems(path, deep=is_suspect)
    if found:
        raise DamagedError(f"the database {path} is damaged: {found[0]}")
    _mark(path).unlink(missing_ok=True)


def suspect(path: Path) -> None:
    """Have the next server look through the database before it uses it."""
    if path.exists():
        _mark(path).touch(mode=0o600)


def set_aside(path: Path, now: datetime) -> Path:
    """Put a damaged database out of the way; where it is now."""
    aside = move_database(path, _aside(path, now))
    _mark(path).unlink(missing_ok=True)
    return aside


def announce_aside(path: Path, now: datetime) -> None:
    """Note that a damaged database is about to be set aside, until its owner was told."""
    with _note(path).open("w") as file:
        file.write(_aside(path, now))
        file.flush()
        os.fsync(file.fileno())


def announced_aside(path: Path) -> Path | None:
    """Where a damaged database is now of which nobody was told: who was to do so was killed."""
    try:
        name = _note(path).read_text()
    except FileNotFoundError:
        return None
    aside = path.with_name(name) if name else path
    if aside == path or not aside.exists():
        return None  # it is still in its place, and will be found damaged again
    if not path.exists():
        move_database(path, name)  # what belongs to it
    return aside


def aside_was_told(path: Path) -> None:
    """Its owner knows."""
    _note(path).unlink(missing_ok=True)


def _aside(path: Path, now: datetime) -> str:
    return f"{path.name}.damaged-{now:%Y%m%dT%H%M%SZ}"


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}-aside")


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}-suspect")
