"""Tables of the documentation that say what tests have seen.

A test compares what it saw with its column or rows. With `TRAINWAY_WRITE_TABLES=1` it writes them
instead, so that a table is made by running the tests of all backends once.
"""

import fcntl
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from environments import REPOSITORY

WRITES: Final = "TRAINWAY_WRITE_TABLES"


@dataclass(frozen=True)
class DocumentedTable:
    """A Markdown table, found by the name in the comment above it."""

    page: str
    name: str

    def check(self, column: str, seen: Mapping[str, str]) -> None:
        """Compare cells of a column, by the first cell of their rows."""
        if os.environ.get(WRITES):
            self._write(column, seen)
        told = self.column(column)
        assert {row: told.get(row) for row in seen} == dict(seen), f"see {WRITES} in {__file__}"

    def column(self, name: str) -> dict[str, str]:
        """The cells of a column, by the first cell of their rows."""
        head, *rows = self._rows()
        index = head.index(name)
        return {row[0]: row[index] for row in rows}

    @property
    def _mark(self) -> str:
        return f"<!-- table: {self.name} -->\n\n"

    def _rows(self) -> list[list[str]]:
        text = (REPOSITORY / self.page).read_text().partition(self._mark)[2]
        lines = text.partition("\n\n")[0].splitlines()
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        return [row for row in rows if set("".join(row)) != {"-"}]

    def _write(self, column: str, seen: Mapping[str, str]) -> None:
        path = REPOSITORY / self.page
        with path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            before, mark, text = file.read().partition(self._mark)
            head, *rows = self._rows()
            index = head.index(column)
            for name, cell in seen.items():
                row = next((each for each in rows if each[0] == name), None)
                if row is None:
                    row = [name, *("" for _ in head[1:])]
                    rows.append(row)
                row[index] = cell
            table = [_line(head), "|---" * len(head) + "|", *map(_line, rows)]
            rest = text.partition("\n\n")[2]
            file.seek(0)
            file.write(f"{before}{mark}" + "\n".join(table) + f"\n\n{rest}")
            file.truncate()


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
