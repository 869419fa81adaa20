"""What a worker keeps on disk: each file of the table as Arrow, mapped into memory when it is read.

A file has its name when it is whole, so a worker that was killed finds what it had. Nothing of the
table is held as objects of Python: what is read often is in the page cache of the system, which
takes as much memory as there is and no more.
"""

import os
import shutil
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from trainway.data.disk import disk_error
from trainway.data.flight.assignment import Layout
from trainway.data.flight.plan import Plan, Reader, TableFile
from trainway.data.flight.row_range import RowRange
from trainway.errors import UnavailableError, UsageError

_PREFIX: Final = "trainway-table-"
"""The folder may have others' files in it, which are none of our business."""


class Book:
    """A file of the table, mapped."""

    def __init__(self, path: Path) -> None:
        self._source = pa.memory_map(str(path))
        reader = pa.ipc.open_file(self._source)
        self._batches = [reader.get_batch(index) for index in range(reader.num_record_batches)]
        self._layout = Layout([batch.num_rows for batch in self._batches])

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self._layout.rows

    def read(self, rows: RowRange) -> list[Any]:
        """Some of its rows, as they lie on disk."""
        starts = self._layout.starts
        first, end = bisect_right(starts, rows.start) - 1, bisect_left(starts, rows.stop)
        head = self._batches[first].slice(rows.start - starts[first], len(rows))
        if end - first == 1:
            return [head]
        tail = self._batches[end - 1].slice(0, rows.stop - starts[end - 1])
        return [head, *self._batches[first + 1 : end - 1], tail]


class Shelf:
    """All that a worker has of one version of a table."""

    def __init__(self, folder: Path, planned: Plan) -> None:
        self.plan = planned
        self.schema = planned.arrow_schema()
        self._folder = folder / f"{_PREFIX}{planned.version}"
        self._books: dict[int, Book] = {}
        self._layout: Layout | None = None
        self._lock = threading.Lock()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for other in folder.glob(f"{_PREFIX}*"):
                if other != self._folder:
                    shutil.rmtree(other, ignore_errors=True)
        except OSError as error:
            raise disk_error(error, self._folder) from None

    def counts(self) -> dict[int, int]:
        """The rows of each file that is here, by its number."""
        with self._lock:
            return {number: book.rows for number, book in self._books.items()}

    def is_placed(self) -> bool:
        """Whether the worker knows which numbers its rows have."""
        return self._layout is not None

    def place(self, counts: Sequence[int]) -> None:
        """Number the rows; from now on they can be read."""
        self._layout = Layout(counts)

    def add(self, number: int, reader: Reader) -> None:
        """Have a file of the table here."""
        file = self.plan.files[number]
        path = self._folder / f"{file.name}.arrow"
        if not path.exists():
            self._write(path, file, reader)
        with self._lock:
            self._books[number] = Book(path)

    def read(self, ranges: Sequence[RowRange]) -> Any:
        """These rows in this order, as a table of pieces that lie on disk."""
        layout = self._layout
        if layout is None:
            raise UnavailableError("the cache is not loaded yet", hint="ask the head again")
        if sum(map(len, ranges)) > layout.rows or any(each.stop > layout.rows for each in ranges):
            raise UsageError(f"Invalid partition range: the table has {layout.rows} rows")
        batches = [batch for rows in ranges for batch in self._batches(layout, rows)]
        return pa.Table.from_batches(batches, schema=self.schema)

    def _batches(self, layout: Layout, rows: RowRange) -> Iterator[Any]:
        for number, here in layout.files(rows):
            book = self._books.get(number)
            if book is None:
                raise UnavailableError(
                    "this worker does not have these rows any more", hint="ask the head again"
                )
            start = layout.starts[number]
            yield from book.read(RowRange(here.start - start, here.stop - start))

    def _write(self, path: Path, file: TableFile, reader: Reader) -> None:
        partial = path.with_suffix(".partial")
        try:
            with (
                pa.OSFile(str(partial), "wb") as sink,
                pa.ipc.new_file(sink, self.schema) as writer,
            ):
                for batch in reader.batches(file, self._folder):
                    writer.write_batch(batch)
            with partial.open("rb") as written:
                os.fsync(written.fileno())
            partial.replace(path)
        except OSError as error:
            raise disk_error(error, partial) from None
        finally:
            partial.unlink(missing_ok=True)
            for trace in self._folder.glob(f"{file.name}.source"):
                with suppress(OSError):
                    trace.unlink()
