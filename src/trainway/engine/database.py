"""Opens the database and brings it up to date.

A new one is made as the tables say, and noted as up to date. Alembic is slow to import, so it is
used only when there is an older one to migrate.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    select,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError

from trainway.engine.backup import copy_database
from trainway.engine.database_failure import database_error
from trainway.engine.tables import HEAD, METADATA
from trainway.errors import DatabaseError

_VERSION: Final = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""The table of the version, as Alembic makes it."""
_MIGRATIONS: Final = Path(__file__).parent / "migrations"
BUSY_S: Final = 10.0
"""How long to wait for another program that writes."""
_HURRIED_MS: Final = 50
_IS_HURRIED: Final = ContextVar("is_hurried", default=False)


def open_database(url: str, busy_s: float = BUSY_S) -> Engine:
    """The database at that URL, with the newest tables; wait so long for another writer."""
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", partial(prepare_sqlite, busy_s=busy_s))
    try:
        version = _version(engine)
        if version is None:
            _create(engine)
        elif version != HEAD:
            _keep_copy(engine)
            migrate(engine, version)
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        engine.dispose()
        raise database_error(error, place_of(engine)) from error
    return engine


def place_of(engine: Engine) -> str:
    """The database as its owner knows it: a file, or a URL without its password."""
    if engine.dialect.name == "sqlite":
        return engine.url.database or ":memory:"
    return engine.url.render_as_string(hide_password=True)


def file_of(engine: Engine) -> Path | None:
    """The file of a database; None: it is on a server or in memory."""
    name = engine.url.database if engine.dialect.name == "sqlite" else None
    return Path(name) if name and name != ":memory:" else None


def migrate(engine: Engine, version: str, target: str = HEAD) -> None:
    """Change the tables step by step until they are those of the target version, all or none."""
    from alembic import command  # noqa: PLC0415 - slow, and seldom needed
    from alembic.config import Config  # noqa: PLC0415 - see above
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - see above
    from alembic.util import CommandError  # noqa: PLC0415 - see above

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    try:
        if version:
            ScriptDirectory.from_config(config).get_revision(version)
        with engine.begin() as connection:
            if engine.dialect.name == "sqlite":  # whose driver begins none for a new table or index
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            config.attributes["connection"] = connection
            command.upgrade(config, target)
    except CommandError as error:
        raise DatabaseError(
            f"the database is of version {version}, which this program does not know",
            hint="it was written by a newer trainway: use that one, or another TRAINWAY_HOME",
        ) from error


def _keep_copy(engine: Engine) -> None:
    """Keep an older database as it is: an upgrade has no way back."""
    path = file_of(engine)
    if path is not None:
        copy_database(path, path.with_name(f"{path.name}.before-{HEAD}"))


def known_versions() -> list[str]:
    """All versions that can be used or upgraded."""
    return [path.name[1:5] for path in sorted((_MIGRATIONS / "versions").glob("v*.py"))]


def _version(engine: Engine) -> str | None:
    """The version that the database says it has; None: it is new."""
    with engine.connect() as connection:
        if not inspect(connection).has_table(_VERSION.name):
            return None
        found = connection.execute(select(_VERSION.c.version_num)).scalar()
        return None if found is None else str(found)


def _create(engine: Engine) -> None:
    with engine.begin() as connection:
        METADATA.create_all(connection)
        _VERSION.create(connection, checkfirst=True)
        connection.execute(insert(_VERSION).values(version_num=HEAD))


@contextmanager
def hurried() -> Iterator[None]:
    """Let transactions hardly wait for another program that writes."""
    token = _IS_HURRIED.set(True)
    try:
        yield
    finally:
        _IS_HURRIED.reset(token)


@contextmanager
def transaction(engine: Engine, *, is_durable: bool = True) -> Iterator[Connection]:
    """Begin a transaction; what is durable is kept also if the machine loses power after it.

    The other sort waits for no disk. A process that is killed loses neither.
    """
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            cursor = connection.connection.cursor()
            cursor.execute(f"PRAGMA synchronous = {'FULL' if is_durable else 'NORMAL'}")
            cursor.close()
        with _waiting(connection), connection.begin():
            yield connection


@contextmanager
def _waiting(connection: Connection) -> Iterator[None]:
    """Have a connection wait for another writer no longer than it is meant to."""
    if not _IS_HURRIED.get() or connection.dialect.name != "sqlite":
        yield
        return
    cursor = connection.connection.cursor()
    try:
        [usual] = cursor.execute("PRAGMA busy_timeout").fetchone()
        cursor.execute(f"PRAGMA busy_timeout = {min(usual, _HURRIED_MS)}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {usual}")
    finally:
        cursor.close()


def prepare_sqlite(connection: DBAPIConnection, _record: Any, busy_s: float = BUSY_S) -> None:
    """Make what is committed survive crashes, and wait for another writer; see `transaction`."""
    cursor = connection.cursor()
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        f"busy_timeout = {int(busy_s * 1000)}",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
