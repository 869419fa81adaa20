"""Rows of a table by their numbers, and the share of them that one of several readers gets."""

from dataclasses import dataclass

from trainway.errors import UsageError


@dataclass(frozen=True, order=True)
class RowRange:
    """The rows from `start` up to, and without, `stop`."""

    start: int
    stop: int

    def __len__(self) -> int:
        return max(0, self.stop - self.start)

    def within(self, other: "RowRange") -> "RowRange":
        """The rows that both have."""
        start = max(self.start, other.start)
        return RowRange(start, max(start, min(self.stop, other.stop)))


def upstream_share(rows: int, index: int, total: int) -> RowRange:
    """Kubeflow's rule: all shares have as many rows, and those at the end have what is left."""
    _check(index, total)
    size = -(-rows // total)
    start = min(index * size, rows)
    return RowRange(start, min(start + size, rows))


def even_share(rows: int, index: int, total: int) -> RowRange:
    """Shares that differ by one row at most."""
    _check(index, total)
    return RowRange(index * rows // total, (index + 1) * rows // total)


def _check(index: int, total: int) -> None:
    if not 0 <= index < total:
        raise UsageError(
            f"Invalid partition range: there is no part {index} of {total}",
            hint="parts are numbered from 0, and there is at least one",
        )
