"""Puts a copy in the place of a database, and finishes what was killed meanwhile.

The copy is whole when it has its name. Between two renames there is no database at all: whoever
found none would begin an empty one, so the next server, or restore, finishes it first.
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from trainway.engine.backup import move_database


def fresh_copy(path: Path) -> Path:
    """Where the copy is that is to be the database."""
    return path.with_name(f"{path.name}.restored")


def put_in_place(path: Path, now: datetime, before: Path | None = None) -> Path | None:
    """Let the copy be the database; where the one before is now, if there was one.

    `before` is one that was moved without its log, which is brought to it.
    """
    was_there = path.exists()
    name = f"{path.name}.replaced-{now:%Y%m%dT%H%M%SZ}" if before is None else before.name
    kept = move_database(path, name)  # also what belongs to it, which must not meet the copy
    move_database(fresh_copy(path), path.name)
    return kept if was_there else None


def finish(path: Path, now: datetime, tell: Callable[[Path | None], object]) -> None:
    """Finish what was killed; `tell` hears of it first, and where the one before is."""
    if path.exists():
        fresh_copy(path).unlink(missing_ok=True)  # it was killed before it replaced anything
    elif fresh_copy(path).exists():
        tell(max(_all_before(path), default=None))
        put_in_place(path, now, _before(path))


def _before(path: Path) -> Path | None:
    """The one before, where it was moved without its log."""
    newest = max(_all_before(path), default=None)
    has_log = newest is not None and newest.with_name(f"{newest.name}-wal").exists()
    return None if has_log else newest


def _all_before(path: Path) -> list[Path]:
    return list(path.parent.glob(f"{path.name}.replaced-*Z"))
