"""A table in one version: its columns, and the files with its rows, as head and workers know it."""

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from trainway.data.flight.source_file import seen
from trainway.data.opening import local_path, locate
from trainway.data.store import ChangedError
from trainway.data.transfer import Wanted, fetch
from trainway.data.uri import FILE


@dataclass(frozen=True)
class TableFile:
    """A file with rows, in the version that was planned."""

    uri: str
    etag: str
    weight: int
    """Its bytes: how much work it is, compared with the others."""

    @property
    def name(self) -> str:
        """What it is called on a worker's disk."""
        return hashlib.sha256(json.dumps([self.uri, self.etag]).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Plan:
    """A table in one version, as the head tells it to workers."""

    table: str
    schema: str
    """Arrow's, as its message in base 64."""
    files: tuple[TableFile, ...]

    @cached_property
    def version(self) -> str:
        """Changes with anything above."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:32]

    def arrow_schema(self) -> Any:
        """The columns."""
        return self._arrow_schema

    @cached_property
    def _arrow_schema(self) -> Any:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(self.schema)))


def encoded(schema: Any) -> str:
    """A schema as text; what other tools keep in its metadata is left out."""
    return base64.b64encode(schema.remove_metadata().serialize().to_pybytes()).decode()


class Reader(Protocol):
    """How the files of a table are read."""

    def batches(self, file: TableFile, folder: Path) -> Iterator[Any]:
        """The rows of a file, in record batches; the folder is for what is fetched."""
        ...


def fetched(file: TableFile, folder: Path) -> Path:
    """A file of the table on this machine, in the version that was planned."""
    source, entry = seen(file.uri)
    if file.etag and entry.etag != file.etag:
        raise ChangedError(
            f"{file.uri} has changed since the cache began to read the table",
            hint="restart the cache, or use a table whose files do not change, such as Iceberg's",
        )
    location = locate(file.uri)
    if location.scheme == FILE:
        return local_path(location)
    path = folder / f"{file.name}.source"
    fetch([Wanted(source, entry, file.uri, path)])
    return path
