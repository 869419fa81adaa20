"""Tables for training loops: rows of a cache, or of Parquet files, for each rank and each worker.

Every row of an epoch goes to one rank and one DataLoader worker. With a seed, each epoch has
another order, which depends on nothing but seed and epoch. `state_dict` says where a reader is, and
one that loads it goes on with the next row.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import torch
from torch.utils.data import IterableDataset, get_worker_info

from trainway.data.flight.client import Rows, cached_rows
from trainway.data.flight.local_rows import LocalRows, tables_folder
from trainway.data.flight.order import WINDOW_ROWS
from trainway.data.flight.reading import Part, Position, Tables, Wishes, batches
from trainway.errors import UsageError

_CACHE: Final = ("cache://", "grpc://")
_LISTED: Final = 1024


class TableDataset(IterableDataset):  # type: ignore[misc] # torch may be missing
    """The rows of a table.

    `source` is a cache (`cache://HOST:PORT`, or nothing for the one that the job was given) or a
    table (a Parquet file or folder, an Iceberg metadata file, wherever it is). Without `batch_size`
    a row is a dict; with it, so many rows are a dict of tensors (lists for text), and the
    DataLoader gets `batch_size=None`. `seed` shuffles; `window_rows` are mixed at a time and held
    in memory twice: take fewer for large rows. With `equal`, all ranks get as many rows, and fewer
    rows than there are ranks are left out of the epoch.
    """

    def __init__(  # noqa: PLR0913 - all but the first have names
        self,
        source: str = "",
        *,
        seed: int | None = None,
        batch_size: int | None = None,
        columns: Sequence[str] | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        window_rows: int = WINDOW_ROWS,
        equal: bool = False,
        token: str | None = None,
    ) -> None:
        super().__init__()
        if window_rows < 1 or (batch_size is not None and batch_size < 1):
            raise UsageError("window_rows and batch_size must be at least 1")
        self._source = source
        self._batch_size = batch_size
        self._ranks = (rank, world_size)
        self._token = token
        self._position = Position(Wishes(seed, columns, window_rows, equal))

    def set_epoch(self, epoch: int) -> None:
        """Begin another epoch, at its first row."""
        self._position.begin(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where this reader is."""
        return self._position.save()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a reader was."""
        self._position.restore(state)

    def __iter__(self) -> Iterator[Any]:
        tables = self._position.tables(self._opened(), _part(*self._ranks))
        try:
            yield from self._rows(tables) if self._batch_size is None else self._batches(tables)
        finally:
            tables.close()
        self._position.end()

    def _opened(self) -> Rows:
        if not self._source or self._source.startswith(_CACHE):
            return cached_rows(self._source, self._token)
        return LocalRows(self._source, tables_folder(os.environ))

    def _rows(self, tables: Tables) -> Iterator[dict[str, Any]]:
        for table in tables:
            for batch in table.to_batches(max_chunksize=_LISTED):
                for row in batch.to_pylist():
                    self._position.row += 1
                    yield row

    def _batches(self, tables: Tables) -> Iterator[dict[str, Any]]:
        for batch in batches(tables, self._batch_size or 1):
            self._position.row += batch.num_rows
            yield tensors(batch)


def tensors(table: Any) -> dict[str, Any]:
    """Columns of numbers as tensors, others as lists."""
    return {name: _tensor(table.column(name)) for name in table.column_names}


def _tensor(column: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    values, shape = column, [len(column)]
    if pa.types.is_fixed_size_list(column.type) and not column.null_count:
        shape.append(column.type.list_size)
        chunks = [chunk.flatten() for chunk in column.chunks]
        values = pa.chunked_array(chunks, column.type.value_type)
    kind = values.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if values.null_count or not (is_number or pa.types.is_boolean(kind)):
        return column.to_pylist()
    return torch.tensor(values.to_numpy()).reshape(shape)


def _part(rank: int | None, world: int | None) -> Part:
    if rank is None or world is None:
        found = torch.distributed
        if found.is_available() and found.is_initialized():
            rank, world = found.get_rank(), found.get_world_size()
        else:
            rank = int(os.environ.get("RANK", "0"))
            world = int(os.environ.get("WORLD_SIZE", "1"))
    if not 0 <= rank < world:
        raise UsageError(f"there is no rank {rank} of {world}")
    info = get_worker_info()
    return Part(rank, world) if info is None else Part(rank, world, info.id, info.num_workers)
