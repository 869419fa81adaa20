"""Opens the database and brings it up to date.

A new one is made as the tables say, and noted as up to date. Alembic is slow to import, so it is
used only when there is an older one to migrate.
"""

from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Column,
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

from trainway.engine.tables import HEAD, METADATA
from trainway.errors import TrainwayError

_VERSION: Final = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""As Alembic makes it."""
_MIGRATIONS: Final = Path(__file__).parent / "migrations"
_BUSY_MS: Final = 10_000


class DatabaseError(TrainwayError):
    """The database cannot be used."""

    code = "database"


def open_database(url: str) -> Engine:
    """The database at that URL, with the newest tables."""
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", prepare_sqlite)
    try:
        version = _version(engine)
        if version is None:
            _create(engine)
        elif version != HEAD:
            migrate(engine, version)
    except SQLAlchemyError as error:
        engine.dispose()
        reason = getattr(error, "orig", None) or error
        where = engine.url.render_as_string(hide_password=True)
        raise DatabaseError(f"the database {where} cannot be used: {reason}") from error
    return engine


def migrate(engine: Engine, version: str, target: str = HEAD) -> None:
    """Change the tables step by step until they are those of the target version."""
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
            config.attributes["connection"] = connection
            command.upgrade(config, target)
    except CommandError as error:
        raise DatabaseError(
            f"the database is of version {version}, which this program does not know",
            hint="it was written by a newer trainway: use that one, or another TRAINWAY_HOME",
        ) from error


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


def prepare_sqlite(connection: DBAPIConnection, _record: Any) -> None:
    """Make a new connection survive crashes, and wait for another writer."""
    cursor = connection.cursor()
    for pragma in (
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
        f"busy_timeout = {_BUSY_MS}",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
