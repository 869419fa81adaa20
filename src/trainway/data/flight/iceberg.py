"""Iceberg tables, by their metadata file and without a catalog, through our own way to bytes.

pyiceberg finds the files of the current snapshot and reads their rows, with deletes applied and
columns as the table has them now. It reads its small files through `data/`, and each data file
after it was brought here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.table import FileScanTask, StaticTable

from trainway.data.flight.plan import Plan, TableFile, encoded, fetched
from trainway.data.flight.source_file import opened, seen
from trainway.errors import NotFoundError, TrainwayError, UnreadableError

_THIS: Final = f"{__name__}.TableFiles"


class IcebergTable:
    """The current snapshot of a table."""

    def __init__(self, metadata: str) -> None:
        try:
            self._table = StaticTable.from_metadata(metadata, {"py-io-impl": _THIS})
        except TrainwayError:
            raise
        except (ValueError, KeyError, OSError, NoSuchTableError) as error:
            raise UnreadableError(
                f"{metadata} is not the metadata of an Iceberg table: {_first_line(error)}"
            ) from None
        self._metadata = metadata
        self._tasks: dict[str, FileScanTask] = {}

    def plan(self) -> Plan:
        """The files of the snapshot, in the order of their names."""
        tasks = self._planned()
        schema = self._table.scan().projection().as_arrow()
        files = (
            TableFile(path, "", tasks[path].file.file_size_in_bytes) for path in sorted(tasks)
        )  # a data file never changes
        return Plan(self._metadata, encoded(schema), tuple(files))

    def batches(self, file: TableFile, folder: Path) -> Iterator[Any]:
        """The rows of a file that no delete has removed."""
        task = self._planned()[file.uri]
        schema = self._table.scan().projection()
        source = TableFiles(local={file.uri: fetched(file, folder)})
        scan = ArrowScan(self._table.metadata, source, schema, AlwaysTrue())
        wanted = schema.as_arrow().remove_metadata()
        try:
            for batch in scan.to_record_batches([task]):
                yield pa.RecordBatch.from_arrays(batch.columns, names=wanted.names).cast(wanted)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise UnreadableError(f"{file.uri} cannot be read: {_first_line(error)}") from None

    def _planned(self) -> dict[str, FileScanTask]:
        if not self._tasks:
            self._tasks = {task.file.file_path: task for task in self._table.scan().plan_files()}
        return self._tasks


class TableFiles(FileIO):
    """Files by their URIs, for pyiceberg; `local` are those that are here."""

    def __init__(
        self, properties: dict[str, str] | None = None, local: dict[str, Path] | None = None
    ) -> None:
        super().__init__(properties or {})
        self._local = local or {}

    def new_input(self, location: str) -> InputFile:
        """A file to read."""
        return _Input(location, self._local.get(location))

    def new_output(self, location: str) -> OutputFile:
        """Nothing is written."""
        raise NotImplementedError(f"a table is only read, and {location} would be written")

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Nothing is removed."""
        raise NotImplementedError(f"a table is only read, and {location} would be removed")


class _Input(InputFile):
    def __init__(self, location: str, local: Path | None) -> None:
        super().__init__(location)
        self._local = local

    def __len__(self) -> int:
        return seen(self.location)[1].size

    def exists(self) -> bool:
        """Whether it is there."""
        try:
            seen(self.location)
        except NotFoundError:
            return False
        return True

    def open(self, seekable: bool = True) -> InputStream:  # noqa: ARG002 - it always is
        """The file, ready to be read."""
        stream: InputStream = (
            opened(self.location) if self._local is None else pa.OSFile(str(self._local))
        )
        return stream


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
