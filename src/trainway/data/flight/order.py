"""In which order an epoch reads the rows of a table: as they are, or shuffled by seed and epoch.

A shuffle changes the order of blocks of neighbouring rows, which can be read quickly from disk; our
own client then mixes the rows of several blocks, a window. Which order that is depends on seed,
epoch and the number of rows alone, never on who serves them or how many read. So a share of an
epoch is a range of places in this order, and a reader that starts again at a place goes on with the
right row.
"""

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from trainway.data.flight.row_range import RowRange

BLOCK_ROWS: Final = 256
MOST_BLOCKS: Final = 1 << 18
WINDOW_ROWS: Final = 16_384


@dataclass(frozen=True)
class Shuffle:
    """What an epoch's order depends on."""

    seed: int
    epoch: int

    def permutation(self, length: int, of: str) -> Sequence[int]:
        """The numbers below `length` in another order; a string tells one from another."""
        draw = random.Random(f"{self.seed} {self.epoch} {of}").random  # noqa: S311 - no secret
        keys = [draw() for _ in range(length)]  # the only numbers that every Python gives alike
        return sorted(range(length), key=keys.__getitem__)


@dataclass(frozen=True)
class Window:
    """Rows to read together, and which of them come next, in which order."""

    ranges: Sequence[RowRange]
    picks: Sequence[int] | None = None
    """Numbers among the rows that were read; None: all of them, as they are."""

    def __len__(self) -> int:
        return sum(map(len, self.ranges)) if self.picks is None else len(self.picks)


class Order:
    """All blocks of a table in the order of an epoch."""

    def __init__(self, rows: int, shuffle: Shuffle | None = None) -> None:
        self._size = max(BLOCK_ROWS, -(-rows // MOST_BLOCKS))
        self._shuffle = shuffle
        starts = range(0, rows, self._size)
        blocks = [RowRange(start, min(start + self._size, rows)) for start in starts]
        if shuffle is not None:
            blocks = [blocks[number] for number in shuffle.permutation(len(blocks), "blocks")]
        self._blocks = blocks
        self._ends = list(accumulate(map(len, blocks)))

    def runs(self, places: RowRange) -> Iterator[RowRange]:
        """The rows at these places, one block after the other."""
        for index in range(bisect_right(self._ends, places.start), len(self._blocks)):
            block = self._blocks[index]
            begin = self._ends[index] - len(block)
            here = places.within(RowRange(begin, self._ends[index]))
            if not here:
                return
            first = block.start - begin
            yield RowRange(first + here.start, first + here.stop)

    def windows(self, places: RowRange, rows: int = WINDOW_ROWS) -> Iterator[Window]:
        """What to read for these places, about so many rows at a time."""
        count = max(1, rows // self._size)
        group = bisect_right(self._ends, places.start) // count
        for first in range(group * count, len(self._blocks), count):
            blocks = self._blocks[first : first + count]
            begin = self._ends[first] - len(blocks[0])
            stop = self._ends[first + len(blocks) - 1]
            here = places.within(RowRange(begin, stop))
            if not here:
                return
            if self._shuffle is None:
                yield Window([here])
                continue
            mixed = self._shuffle.permutation(stop - begin, f"window {first // count}")
            yield Window(blocks, mixed[here.start - begin : here.stop - begin])
