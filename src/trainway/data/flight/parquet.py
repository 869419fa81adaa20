"""Parquet files that are a table together; each is read in batches of about a megabyte."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from trainway.data.flight.plan import Plan, TableFile, encoded, fetched
from trainway.data.flight.source_file import opened
from trainway.data.selection import Selected
from trainway.data.uri import Location
from trainway.errors import NotFoundError, UnreadableError

_SUFFIXES: Final = (".parquet", ".parq")
_BATCH_BYTES: Final = 1 << 20
_MOST_ROWS: Final = 1 << 16


def plan_files(table: str, location: Location, files: Sequence[Selected]) -> Plan:
    """The files of a table in the order of their names."""
    if not files:
        raise NotFoundError(
            f"there is no Parquet file at {location}",
            hint="a table is a file or folder of *.parquet, or an Iceberg table's *.metadata.json",
        )
    found = sorted(files, key=lambda each: each.name)
    uris = [str(location.of(each.entry.key)) for each in found]
    planned = zip(uris, found, strict=True)
    return Plan(
        table,
        encoded(_with_values(_parquet(uris[0], opened(uris[0])).schema_arrow)),
        tuple(TableFile(uri, each.entry.etag, each.entry.size) for uri, each in planned),
    )


def _with_values(schema: Any) -> Any:
    """The columns with values where pandas wrote categories.

    Each group of rows has categories of its own, and Arrow's files take only one set of them.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    return pa.schema(
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema
    )


def is_parquet(name: str) -> bool:
    """Whether a file below a folder is one of the table's; what is hidden is not."""
    hidden = any(word.startswith(("_", ".")) for word in name.split("/"))
    return name.lower().endswith(_SUFFIXES) and not hidden


class ParquetFiles:
    """Parquet files that all have the columns of the first."""

    def __init__(self, planned: Plan) -> None:
        self._schema = planned.arrow_schema()

    def batches(self, file: TableFile, folder: Path) -> Iterator[Any]:
        """The rows of a file."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        path = fetched(file, folder)
        found = _parquet(file.uri, str(path))
        size = batch_rows(found.metadata)
        names = self._schema.names
        try:
            for batch in found.iter_batches(size, columns=names):
                yield batch.select(names).cast(self._schema)
        except OSError as error:  # Arrow says so of bytes that make no sense
            raise UnreadableError(f"{file.uri} is damaged: {_first_line(error)}") from None
        except (pa.ArrowException, KeyError) as error:
            raise UnreadableError(
                f"{file.uri} cannot be read as the other files of the table: {error}",
                hint=f"the columns of the first file are {', '.join(names)}",
            ) from None


def batch_rows(metadata: Any) -> int:
    """So many rows that a batch has about a megabyte."""
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    average = max(1, size // max(1, metadata.num_rows))
    return int(max(1, min(_MOST_ROWS, _BATCH_BYTES // average)))


def _parquet(uri: str, file: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    try:
        return pq.ParquetFile(file, memory_map=isinstance(file, str))
    except (pa.ArrowException, OSError) as error:
        raise UnreadableError(f"{uri} is no Parquet file: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
