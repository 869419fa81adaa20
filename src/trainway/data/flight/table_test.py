"""Tables of Parquet files, and what a worker keeps of them."""

import errno
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trainway.data.flight.local_rows import LocalRows
from trainway.data.flight.parquet import ParquetFiles
from trainway.data.flight.reading import Part, Position, Wishes, batches
from trainway.data.flight.row_range import RowRange
from trainway.data.flight.shelf import Shelf
from trainway.data.flight.table import plan, reader
from trainway.errors import NotFoundError, TrainwayError, UnreadableError, UsageError


def write(folder: Path, sizes: list[int]) -> None:
    start = 0
    for number, size in enumerate(sizes):
        ids = pa.array(range(start, start + size), pa.int64())
        (folder / f"year={number}").mkdir(parents=True)
        pq.write_table(pa.table({"id": ids}), folder / f"year={number}" / "part.parquet")
        start += size


@pytest.fixture
def table(tmp_path: Path) -> Path:
    write(tmp_path / "t", [700, 0, 300])
    return tmp_path / "t"


def ids(found: Any) -> list[int]:
    return [int(each) for each in found.column("id").to_pylist()]


def test_a_folder_is_a_table_without_what_is_hidden(table: Path) -> None:
    (table / "_temporary").mkdir()
    (table / "_temporary" / "x.parquet").write_text("half a file")
    (table / "README.md").write_text("about")
    planned = plan(str(table))
    assert [each.uri for each in planned.files] == [
        f"file://{table}/year={number}/part.parquet" for number in range(3)
    ]
    assert planned.arrow_schema().names == ["id"]


@pytest.mark.parametrize(
    ("files", "error", "said"),
    [
        ({"a.csv": ""}, NotFoundError, "there is no Parquet file at"),
        ({"a.parquet": "text"}, UnreadableError, "is no Parquet file"),
        ({"metadata/v2.metadata.json": "{}", "a.parquet": ""}, UsageError, "of an Iceberg table"),
        ({}, NotFoundError, "there is nothing at"),
    ],
)
def test_what_is_no_table(
    tmp_path: Path, files: dict[str, str], error: type[TrainwayError], said: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(error, match=said) as raised:
        plan(str(tmp_path))
    assert raised.value.hint is None or "metadata" not in files or "v2" in raised.value.hint


def test_rows_are_read_by_their_numbers(table: Path, tmp_path: Path) -> None:
    rows = LocalRows(str(table), tmp_path / "kept")
    assert rows.count == 1000
    assert ids(rows.read([RowRange(690, 710), RowRange(0, 2)])) == [*range(690, 710), 0, 1]
    assert ids(rows.read([])) == []
    with pytest.raises(UsageError, match="Invalid partition range: the table has 1000 rows"):
        rows.read([RowRange(990, 1001)])
    with pytest.raises(UsageError, match="Invalid partition range"):
        rows.read([RowRange(0, 600), RowRange(0, 600)])


def test_what_was_loaded_is_not_loaded_again(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LocalRows(str(table), tmp_path / "kept")

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(ParquetFiles, "batches", refuse)
    assert LocalRows(str(table), tmp_path / "kept").count == 1000


def test_a_version_replaces_the_one_before_and_nothing_else(table: Path, tmp_path: Path) -> None:
    before = Shelf(tmp_path, plan(str(table)))
    before.add(0, reader(before.plan))
    write(table / "more", [5])
    Shelf(tmp_path, plan(str(table)))
    assert len(list(tmp_path.glob("trainway-table-*"))) == 1
    assert table.is_dir()


def test_a_damaged_file_is_said_to_be_damaged_and_not_the_disk(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"text": [f"row {number}" * 9 for number in range(5000)]}), file)
    content = bytearray(file.read_bytes())
    for place in range(200, len(content) // 2, 7):
        content[place] ^= 0x55
    file.write_bytes(content)
    planned = plan(str(file))
    with pytest.raises(UnreadableError, match=r"t\.parquet is damaged: Corrupt"):
        Shelf(tmp_path, planned).add(0, reader(planned))
    assert not list(tmp_path.glob("trainway-table-*/*"))


def test_a_file_with_other_columns_is_refused(table: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["a"]}), table / "z.parquet")
    with pytest.raises(UnreadableError, match=r"z\.parquet cannot be read as the other files"):
        LocalRows(str(table), tmp_path / "kept")


def test_a_file_that_changes_is_refused(table: Path, tmp_path: Path) -> None:
    planned = plan(str(table))
    pq.write_table(pa.table({"id": [1]}), table / "year=0" / "part.parquet")
    with pytest.raises(TrainwayError, match=r"part\.parquet has changed since the cache began"):
        Shelf(tmp_path, planned).add(0, reader(planned))


def test_a_full_disk_is_told_and_leaves_nothing(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan(str(table))
    shelf = Shelf(tmp_path / "kept", planned)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ParquetFiles, "batches", full)
    with pytest.raises(TrainwayError, match="is full"):
        shelf.add(0, reader(planned))
    assert [path for path in (tmp_path / "kept").rglob("*") if path.is_file()] == []


def read(rows: LocalRows, position: Position, part: Part, size: int, most: int = 99) -> list[int]:
    found: list[int] = []
    tables = position.tables(rows, part)
    for _, batch in zip(range(most), batches(tables, size), strict=False):
        position.row += batch.num_rows
        found += ids(batch)
    tables.close()
    return found


@pytest.mark.parametrize("seed", [None, 4])
def test_every_row_goes_to_one_reader(table: Path, tmp_path: Path, seed: int | None) -> None:
    rows = LocalRows(str(table), tmp_path / "kept")
    parts = [Part(rank, 3, worker, 2) for rank in range(3) for worker in range(2)]
    wishes = Wishes(seed, window_rows=300)
    found = [read(rows, Position(wishes), part, 7) for part in parts]
    assert sorted(chain(*found)) == list(range(1000))
    equal = [Part(rank, 3).share(1000, equal=True) for rank in range(3)]
    assert [len(each) for each in equal] == [333, 333, 333]


@pytest.mark.parametrize("seed", [None, 4])
def test_a_reader_goes_on_at_its_row(table: Path, tmp_path: Path, seed: int | None) -> None:
    rows, part = LocalRows(str(table), tmp_path / "kept"), Part(1, 2)
    wishes = Wishes(seed, window_rows=300)
    whole = Position(wishes)
    whole.begin(3)
    expected = read(rows, whole, part, 10)
    first, second = Position(wishes), Position(wishes)
    first.begin(3)
    begun = read(rows, first, part, 10, most=17)
    second.restore(first.save())
    second.begin(3)  # as a loop over epochs does
    assert begun + read(rows, second, part, 10) == expected
    second.end()
    assert (second.save()["epoch"], second.save()["row"]) == (4, 0)


def test_a_state_of_another_order_or_table_is_refused(table: Path, tmp_path: Path) -> None:
    rows = LocalRows(str(table), tmp_path / "kept")
    position = Position(Wishes(4))
    read(rows, position, Part(), 10, most=1)
    with pytest.raises(UsageError, match="another order") as raised:
        Position(Wishes(5)).restore(position.save())
    assert raised.value.hint == "use seed=4 and window_rows=16384"
    write(table / "more", [5])
    other = Position(Wishes(4))
    other.restore(position.save())
    changed = LocalRows(str(table), tmp_path / "kept")
    with pytest.raises(UsageError, match="the table has changed since"):
        read(changed, other, Part(), 10)


def test_categories_are_read_as_their_values(tmp_path: Path) -> None:
    """Each group of rows has others, as pandas writes them."""
    (tmp_path / "t").mkdir()
    words = [["a", "b", "a"], ["c", "a", "c"]]
    tables = [pa.table({"word": pa.array(each).dictionary_encode()}) for each in words]
    with pq.ParquetWriter(tmp_path / "t" / "a.parquet", tables[0].schema) as writer:
        for each in tables:
            writer.write_table(each)
    found = LocalRows(str(tmp_path / "t"), tmp_path / "cache").read([RowRange(0, 6)])
    assert found.column("word").to_pylist() == [*words[0], *words[1]]
    assert found.schema.field("word").type == pa.string()
    assert plan(str(tmp_path / "t")).arrow_schema() == found.schema
