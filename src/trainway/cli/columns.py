"""Tables as plain text. Nothing is cut, so that other programs can read them."""

from collections.abc import Callable, Sequence

_GAP = "  "

Paint = Callable[[str, str], str]
"""A function that puts a cell in colour: it gets the column's name and the cell with its
padding."""


def unpainted(_column: str, text: str) -> str:
    """No colours."""
    return text


class Columns:
    """A table that can be printed in parts: columns only ever get wider."""

    def __init__(self, header: Sequence[str], paint: Paint = unpainted) -> None:
        self._header = header
        self._paint = paint
        self._widths = [len(name) for name in header]

    def table(self, rows: Sequence[Sequence[str]]) -> str:
        """The rows under the header."""
        self._widen(rows)
        return self._line(self._header, unpainted) + self.rows(rows)

    def rows(self, rows: Sequence[Sequence[str]]) -> str:
        """More rows."""
        self._widen(rows)
        return "".join(self._line(row, self._paint) for row in rows)

    def _widen(self, rows: Sequence[Sequence[str]]) -> None:
        for row in rows:
            lengths = map(len, row)
            self._widths = [max(pair) for pair in zip(self._widths, lengths, strict=True)]

    def _line(self, cells: Sequence[str], paint: Paint) -> str:
        padded = [cell.ljust(width) for cell, width in zip(cells, self._widths, strict=True)]
        return _GAP.join(map(paint, self._header, padded)).rstrip() + "\n"
