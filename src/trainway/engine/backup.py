"""Copies of an SQLite database: one that is in use is copied as it is at one moment.

A copy is one file for its owner alone, which is on the disk before it gets its name.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

SIDES = ("", "-wal", "-shm")
"""What the names of the files of a database end with."""


def copy_database(source: Path, target: Path, busy_s: float = 10.0) -> None:
    """Copy a database, whoever writes to it meanwhile; sqlite3.Error or OSError: there is none."""
    draft = target.with_name(f".{target.name}.new")
    try:
        draft.unlink(missing_ok=True)
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with reading(source, busy_s) as origin, closing(sqlite3.connect(draft)) as copy:
            origin.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        _flush(draft)
        draft.replace(target)
        _flush(target.parent)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@contextmanager
def reading(path: Path, busy_s: float = 10.0) -> Iterator[sqlite3.Connection]:
    """A database to read from; it is not made if it is not there."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute(f"PRAGMA busy_timeout = {int(busy_s * 1000)}")
        yield connection


def move_database(path: Path, name: str) -> Path:
    """Give all files of a database another name; its new path."""
    for side in SIDES:
        with suppress(FileNotFoundError):
            path.with_name(path.name + side).rename(path.with_name(name + side))
    _flush(path.parent)
    return path.with_name(name)


def _flush(path: Path) -> None:
    """Have the disk keep a file or folder as it is now."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
