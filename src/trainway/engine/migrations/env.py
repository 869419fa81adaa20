"""How Alembic finds the database: `trainway.engine.database` hands it an open connection.

To write the next step: change `tables.py`, run `alembic -c alembic.ini revision --autogenerate
--rev-id NNNN -m "what changed"` here, look at what it wrote, and set `tables.HEAD`.
"""

from alembic import context
from sqlalchemy import Connection, create_engine

from trainway.engine.tables import METADATA


def run(connection: Connection) -> None:
    """Take the steps that are missing."""
    # SQLite cannot change most things about a table: Alembic then copies it.
    context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    with create_engine(
        context.config.get_main_option("sqlalchemy.url") or "sqlite://"
    ).begin() as new:
        run(new)
