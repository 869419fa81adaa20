"""Which worker has which files of a table, and where each row is.

At first, neighbouring files go to the same worker, so that a share of the rows is at one or two of
them. Whoever has a file keeps it. The files of a worker that is gone go to those that have least.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from trainway.data.flight.row_range import RowRange


def assign(
    weights: Sequence[int], workers: Sequence[str], owners: Mapping[int, str]
) -> dict[int, str]:
    """The worker of each file, by its number; `owners` are those that there are."""
    if not workers:
        return {}
    kept = {file: owner for file, owner in owners.items() if owner in workers}
    if not owners:
        return _neighbours(weights, workers)
    loads = dict.fromkeys(workers, 0)
    for file, owner in kept.items():
        loads[owner] += weights[file]
    left = sorted(set(range(len(weights))) - set(kept), key=lambda file: -weights[file])
    for file in left:
        kept[file] = min(loads, key=loads.__getitem__)
        loads[kept[file]] += weights[file]
    return kept


def _neighbours(weights: Sequence[int], workers: Sequence[str]) -> dict[int, str]:
    total, count, before = max(1, sum(weights)), len(workers), 0
    found = {}
    for file, weight in enumerate(weights):
        middle = before + weight / 2
        found[file] = workers[min(count - 1, int(middle * count / total))]
        before += weight
    return found


@dataclass(frozen=True)
class Segment:
    """Rows that one worker has."""

    worker: str
    rows: RowRange


class Layout:
    """Where the rows of a table begin in each of its files."""

    def __init__(self, counts: Sequence[int]) -> None:
        self.starts = [0, *accumulate(counts)]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.starts[-1]

    def files(self, rows: RowRange) -> Iterator[tuple[int, RowRange]]:
        """The files that have some of these rows, with those that they have."""
        for file in range(max(0, bisect_right(self.starts, rows.start) - 1), len(self.starts) - 1):
            here = rows.within(RowRange(self.starts[file], self.starts[file + 1]))
            if self.starts[file] >= rows.stop:
                return
            if here:
                yield file, here

    def segments(self, rows: RowRange, owners: Mapping[int, str]) -> list[Segment]:
        """Who has these rows, in their order; neighbours of one worker are one segment."""
        found: list[Segment] = []
        for file, here in self.files(rows):
            is_next = bool(found) and found[-1].worker == owners[file]
            start = found.pop().rows.start if is_next else here.start
            found.append(Segment(owners[file], RowRange(start, here.stop)))
        return found
