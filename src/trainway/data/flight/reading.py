"""One reader of a table among several: its share of each epoch, and where in it the reader is.

This knows nothing of any framework; `trainway.data.torch` makes a dataset of it.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

from trainway.data.flight.client import Rows
from trainway.data.flight.order import WINDOW_ROWS, Order, Shuffle, Window
from trainway.data.flight.row_range import RowRange, even_share
from trainway.errors import UsageError

Tables = Generator[Any, None, None]


@dataclass(frozen=True)
class Part:
    """Which reader this is: a rank, and in it a worker of its loader."""

    rank: int = 0
    ranks: int = 1
    worker: int = 0
    workers: int = 1

    def share(self, count: int, *, equal: bool) -> RowRange:
        """Its places of an epoch of so many rows; if all ranks get as many, some rows are left."""
        mine = even_share(count, self.rank, self.ranks)
        if equal:
            size = count // self.ranks
            mine = RowRange(self.rank * size, (self.rank + 1) * size)
        part = even_share(len(mine), self.worker, self.workers)
        return RowRange(mine.start + part.start, mine.start + part.stop)


@dataclass(frozen=True)
class Wishes:
    """How a table is read."""

    seed: int | None = None
    columns: Sequence[str] | None = None
    window_rows: int = WINDOW_ROWS
    equal: bool = False


class Position:
    """Where a reader is; `row` counts what it was given of this epoch."""

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        self._version = ""
        self._readers: list[Any] | None = None  # the ranks, the workers of each, and `equal`
        self._start = 0
        self.epoch = 0
        self.row = 0

    def begin(self, epoch: int) -> None:
        """Go to the first row of an epoch, unless the reader is in it already."""
        if epoch != self.epoch:
            self.epoch, self.row, self._start = epoch, 0, 0

    def save(self) -> dict[str, Any]:
        """All that is needed to go on from here."""
        wishes = self._wishes
        return {
            "epoch": self.epoch,
            "row": self.row,
            "version": self._version,
            "seed": wishes.seed,
            "window_rows": wishes.window_rows,
            "readers": self._readers,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where another one was."""
        wishes = self._wishes
        if (state["seed"], state["window_rows"]) != (wishes.seed, wishes.window_rows):
            raise UsageError(
                "the state belongs to another order of rows",
                hint=f"use seed={state['seed']} and window_rows={state['window_rows']}",
            )
        self.epoch = int(state["epoch"])
        self.row = self._start = int(state["row"])
        self._version = str(state["version"])
        self._readers = state.get("readers")

    def tables(self, rows: Rows, part: Part) -> Tables:
        """What is left of the epoch, a window at a time; the caller counts the rows it hands on."""
        wishes = self._wishes
        if self._start and self._version not in {"", rows.version}:
            raise UsageError(
                "the table has changed since the state was saved",
                hint="begin the epoch again, or use the table as it was",
            )
        self._check_readers(part)
        self._version = rows.version
        self.row, self._start = self._start, 0
        share = part.share(rows.count, equal=wishes.equal)
        left = RowRange(min(share.start + self.row, share.stop), share.stop)
        shuffle = None if wishes.seed is None else Shuffle(wishes.seed, self.epoch)
        windows = Order(rows.count, shuffle).windows(left, wishes.window_rows)
        yield from _ahead(rows, windows, wishes.columns)

    def _check_readers(self, part: Part) -> None:
        """Rows that were given are counted in a share, which is another one among other readers."""
        now = [part.ranks, part.workers, self._wishes.equal]
        if self._start and self._readers not in (None, now):
            ranks, workers, equal = self._readers or now
            raise UsageError(
                "the state belongs to another number of readers",
                hint=f"begin the epoch again, or use {ranks} ranks with {workers} workers each,"
                f" and equal={equal}",
            )
        self._readers = now

    def end(self) -> None:
        """The epoch is over."""
        self.epoch, self.row = self.epoch + 1, 0


def batches(tables: Iterator[Any], size: int) -> Iterator[Any]:
    """Tables of so many rows each; the last one may be smaller."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    rest = None
    for table in tables:
        rest = table if rest is None or not rest.num_rows else pa.concat_tables([rest, table])
        whole = rest.num_rows - rest.num_rows % size
        for start in range(0, whole, size):
            yield rest.slice(start, size)
        rest = rest.slice(whole)
    if rest is not None and rest.num_rows:
        yield rest


def _ahead(rows: Rows, windows: Iterator[Window], columns: Sequence[str] | None) -> Tables:
    """The rows of each window; the next one is read while one is used."""

    def read(window: Window) -> Any:
        table = rows.read(window.ranges, columns)
        return table if window.picks is None else table.take(list(window.picks))

    with ThreadPoolExecutor(1, thread_name_prefix="rows") as pool:
        coming = [pool.submit(read, window) for window in islice(windows, 1)]
        while coming:
            coming += [pool.submit(read, window) for window in islice(windows, 1)]
            yield coming.pop(0).result()
