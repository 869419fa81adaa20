"""Looks after a home directory's database, also where no server can start.

    python -m trainway.server.upkeep --home DIR check | backup FILE [--force] | restore FILE

The answer is JSON; an error has the shape that the HTTP API gives it.
"""

import argparse
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from trainway.engine.backup import copy_database, reading
from trainway.engine.damage import problems, suspect
from trainway.engine.database import known_versions
from trainway.engine.database_failure import database_error
from trainway.engine.restoration import finish, fresh_copy, put_in_place
from trainway.engine.tables import HEAD
from trainway.errors import ConflictError, NotFoundError, TrainwayError, UsageError
from trainway.json_types import Json
from trainway.server.process import AlreadyRunningError, ServerHome

_PATIENCE_S: Final = 2.0


def main(arguments: list[str] | None = None) -> int:
    """Do one thing and print what came of it."""
    options = _options(arguments)
    os.umask(0o077)
    home: Path = options.home.absolute()
    try:
        match options.what:
            case "check":
                answer = check(home)
            case "backup":
                answer = backup(home, options.file.absolute(), force=options.force)
            case _:
                answer = restore(home, options.file.absolute())
    except TrainwayError as error:
        shown = {"code": error.code, "message": error.message, "hint": error.hint}
        sys.stdout.write(json.dumps({"error": shown}))
        return 1
    sys.stdout.write(json.dumps(answer))
    return 0


def check(home: Path) -> Json:
    """What is in the database, what is wrong with it, and what it and the directories lack."""
    path = _database(home)
    found = problems(path)
    answer: Json = {"database": str(path), "problems": found, "isWell": not found}
    if found:
        suspect(path)
        return answer
    with _asked(path) as connection:
        version = _version(connection)
        answer |= {"version": version, "newestVersion": HEAD}
        counts = {}
        for table in ("jobs", "events", "clusters"):
            if _has_table(connection, table):
                query = f"SELECT count(*) FROM {table}"  # noqa: S608 - one of three names
                counts[table] = connection.execute(query).fetchone()[0]
        rows = connection.execute("SELECT id, handle, is_expired, devices FROM jobs").fetchall()
    folders = {entry.name for entry in _entries(home / "jobs") if (entry / "plan.json").exists()}
    lost = [
        job_id
        for job_id, handle, is_expired, devices in rows
        if devices and not is_expired and _is_gone(handle)
    ]
    strays = sorted(folders - {row[0] for row in rows})
    answer |= {"counts": counts, "directoriesWithoutRecord": strays}
    return answer | {"recordsWithoutDirectory": sorted(lost)}


def backup(home: Path, target: Path, *, force: bool) -> Json:
    """Copy the database, as it is at one moment."""
    path = _database(home)
    if target.exists() and not force:
        raise ConflictError(f"{target} already exists", hint="use --force to replace it")
    found = problems(path, deep=False)
    if found:
        raise ConflictError(
            f"the database {path} is damaged, and a copy would be too: {found[0]}",
            hint="trainway server check shows more",
        )
    _do(target, lambda: copy_database(path, target))
    return {"database": str(path), "file": str(target), "bytes": target.stat().st_size}


def restore(home: Path, source: Path) -> Json:
    """Put a copy in the place of the database, which is kept under another name."""
    _checked(source)
    try:
        held = ServerHome(home, _PATIENCE_S)
    except AlreadyRunningError:
        raise ConflictError(
            f"a server is running in {home}",
            hint="run trainway server stop, then try again; jobs keep running",
        ) from None
    path = held.path / held.DATABASE
    now, fresh = datetime.now(UTC), fresh_copy(path)
    _do(path, lambda: finish(path, now, tell=lambda _: None))
    _do(fresh, lambda: copy_database(source, fresh))
    kept = _do(path, lambda: put_in_place(path, now))
    return {"database": str(path), "file": str(source), "kept": kept and str(kept)}


def _checked(source: Path) -> None:
    """Refuse what is not a complete database of this program or an older one."""
    if not source.is_file():
        raise NotFoundError(f"{source}: the file does not exist")
    found = problems(source)
    if found:
        raise UsageError(f"{source} is not a complete database: {found[0]}")
    with _asked(source) as connection:
        version = _version(connection)
    if version not in known_versions():
        raise UsageError(
            f"{source} is not a database of Trainway, or it is from a newer version ({version})"
        )


@contextmanager
def _asked(path: Path) -> Iterator[sqlite3.Connection]:
    """A database to ask; what goes wrong is said as everywhere."""
    try:
        with reading(path) as connection:
            yield connection
    except sqlite3.Error as error:
        raise database_error(error, str(path)) from error


def _do(path: Path, work: Callable[[], Any]) -> Any:
    try:
        return work()
    except (OSError, sqlite3.Error) as error:
        raise database_error(error, str(path)) from error


def _database(home: Path) -> Path:
    path = home / ServerHome.DATABASE
    if not path.exists():
        raise NotFoundError(f"there is no database {path}", hint="no server has run here yet")
    return path


def _version(connection: sqlite3.Connection) -> str | None:
    if not _has_table(connection, "alembic_version"):
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None else str(row[0])


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return connection.execute(query, (name,)).fetchone() is not None


def _is_gone(handle: str) -> bool:
    folder = str((json.loads(handle) if handle else {}).get("directory") or "")
    return folder != "" and not Path(folder).is_dir()


def _entries(folder: Path) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if entry.is_dir()]
    except OSError:
        return []


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m trainway.server.upkeep")
    parser.add_argument("--home", type=Path, required=True)
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("check")
    copying = what.add_parser("backup")
    copying.add_argument("--force", action="store_true")
    for each in (copying, what.add_parser("restore")):
        each.add_argument("file", type=Path)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
