from itertools import combinations
from pathlib import Path

import pyarrow as pa

from trainway.data.flight.row_range import RowRange
from trainway.data.flight.shelf import Book


def test_a_book_gives_the_rows_that_are_asked_for_whichever_batches_have_them(
    tmp_path: Path,
) -> None:
    sizes, start = [3, 1, 0, 4, 2], 0
    path = tmp_path / "book.arrow"
    schema = pa.schema([("id", pa.int64())])
    with pa.ipc.new_file(str(path), schema) as writer:
        for size in sizes:
            ids = pa.array(range(start, start + size), pa.int64())
            writer.write_batch(pa.record_batch([ids], schema=schema))
            start += size
    book = Book(path)
    assert book.rows == 10
    for first, end in combinations(range(11), 2):
        found = pa.Table.from_batches(book.read(RowRange(first, end)), schema=schema)
        assert found.column("id").to_pylist() == list(range(first, end))
