"""A statement that is executed for a thousand rows every second.

SQLAlchemy makes the parameters of each row anew, which takes longer than the database does. The
text of the statement is its own, and so is what it knows of each database; only the rows go past.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, Insert, Update


class Bulk:
    """A statement whose parameters have the names of its columns, or of its own."""

    def __init__(self, statement: Insert | Update, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self._text = str(compiled)
        self._order = compiled.positiontup if compiled.positional else None

    def execute(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute it once for each row; the rows must have every parameter, and not be none."""
        order = self._order
        if order is None:
            connection.exec_driver_sql(self._text, [dict(row) for row in rows])
        else:
            values = [tuple([row[name] for name in order]) for row in rows]
            connection.exec_driver_sql(self._text, values)
