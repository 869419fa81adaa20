"""A statement for a thousand rows every second.

SQLAlchemy makes the parameters of each row anew, which takes longer than the database does. The
text of the statement is its own, and so is what it knows of each database; only the rows go past.
PostgreSQL is given the rows as an array for each column, so that one statement does for all: a
driver that goes over them one by one keeps Python from everything else meanwhile.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from sqlalchemy import (
    Connection,
    Dialect,
    Insert,
    Table,
    TableValuedAlias,
    Update,
    bindparam,
    cast,
    func,
    insert,
    select,
    update,
)

KEY: Final = "key"
"""What the primary key is called in the rows of an update."""
Rows = Sequence[Mapping[str, Any]]


class Bulk(Protocol):
    """A statement whose parameters have the names of its columns, or are the `KEY`."""

    def execute(self, connection: Connection, rows: Rows) -> None:
        """Execute it for each row; the rows must have every parameter, and not be none."""


def bulk_insert(table: Table, dialect: Dialect) -> Bulk:
    """What adds rows to a table."""
    if dialect.name != "postgresql":
        return _EachRow(insert(table), dialect)
    names = table.columns.keys()
    given = _arrays(table, {name: name for name in names})
    return _AllRows(insert(table).from_select(names, select(*given.columns)), dialect)


def bulk_update(table: Table, names: Sequence[str], dialect: Dialect) -> Bulk:
    """What sets these columns of rows, each of which is found by its id."""
    if dialect.name != "postgresql":
        each = update(table).where(table.c.id == bindparam(KEY))
        return _EachRow(each.values({name: bindparam(name) for name in names}), dialect)
    given = _arrays(table, {KEY: "id"} | {name: name for name in names})
    every = update(table).where(table.c.id == given.columns[KEY])
    return _AllRows(every.values({name: given.columns[name] for name in names}), dialect)


def _arrays(table: Table, columns: Mapping[str, str]) -> TableValuedAlias:
    """Rows made of arrays: by the names of the parameters, the columns whose type they have."""
    from sqlalchemy.dialects.postgresql import ARRAY  # noqa: PLC0415 - slow; SQLite needs none

    arrays = [
        cast(bindparam(name), ARRAY(table.c[column].type)) for name, column in columns.items()
    ]
    return func.unnest(*arrays).table_valued(*columns).render_derived(name="given")


class _EachRow:
    """Executed once for each row."""

    def __init__(self, statement: Insert | Update, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self._text = str(compiled)
        self._order = compiled.positiontup if compiled.positional else None

    def execute(self, connection: Connection, rows: Rows) -> None:
        order = self._order
        if order is None:
            connection.exec_driver_sql(self._text, [dict(row) for row in rows])
        else:
            values = [tuple([row[name] for name in order]) for row in rows]
            connection.exec_driver_sql(self._text, values)


class _AllRows:
    """Executed once, with an array of each parameter."""

    def __init__(self, statement: Insert | Update, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self._text = str(compiled)
        self._names = list(compiled.params)

    def execute(self, connection: Connection, rows: Rows) -> None:
        arrays = {name: [row[name] for row in rows] for name in self._names}
        connection.exec_driver_sql(self._text, arrays)
