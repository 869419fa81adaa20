"""Of which files a table is made, and who reads them.

A table is a Parquet file, a folder of them, or an Iceberg table by its metadata file. The head
plans it once; workers bring each of their files here first, so that reading it needs no network.
"""

from typing import Final

from trainway.data.flight.parquet import ParquetFiles, is_parquet, plan_files
from trainway.data.flight.plan import Plan, Reader
from trainway.data.opening import locate, open_source
from trainway.data.selection import Selected, select
from trainway.errors import UsageError

METADATA: Final = ".metadata.json"


def plan(table: str) -> Plan:
    """Look which files a table has; an error says what is wrong with its name."""
    if table.endswith(METADATA):
        from trainway.data.flight.iceberg import IcebergTable  # noqa: PLC0415 - slow to import

        return IcebergTable(table).plan()
    location = locate(table)
    found = select(open_source(location), location)
    _refuse_iceberg(table, found.files)
    files = [each for each in found.files if found.is_file or is_parquet(each.name)]
    return plan_files(table, location, files)


def reader(planned: Plan) -> Reader:
    """Who reads the files of this table."""
    if planned.table.endswith(METADATA):
        from trainway.data.flight.iceberg import IcebergTable  # noqa: PLC0415 - slow to import

        return IcebergTable(planned.table)
    return ParquetFiles(planned)


def _refuse_iceberg(table: str, files: tuple[Selected, ...]) -> None:
    """The files below an Iceberg table are not its rows: some were deleted."""
    metadata = [each for each in files if each.name.endswith(METADATA) and "/" in each.name]
    if metadata:
        newest = max(metadata, key=lambda each: (each.entry.modified or 0, each.name))
        raise UsageError(
            f"{table} is the folder of an Iceberg table",
            hint=f"name its metadata file: {table.rstrip('/')}/{newest.name}",
        )
