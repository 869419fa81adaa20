"""A table that a job reads without a cache: each machine keeps it for itself, as a worker would."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trainway.data import file_lock
from trainway.data.disk import disk_error
from trainway.data.flight.row_range import RowRange
from trainway.data.flight.shelf import Shelf
from trainway.data.flight.table import plan, reader


class LocalRows:
    """The rows of a table on this machine; processes that want it at once wait for one of them."""

    def __init__(self, table: str, folder: Path) -> None:
        planned = plan(table)
        own = folder / hashlib.sha256(table.encode()).hexdigest()[:16]
        try:
            own.mkdir(parents=True, exist_ok=True)
            handle = file_lock.take(own / "lock")
        except OSError as error:
            raise disk_error(error, own) from None
        assert handle is not None  # noqa: S101 - it waits
        try:
            self._shelf = Shelf(own, planned)
            source = reader(planned)
            for number in range(len(planned.files)):
                self._shelf.add(number, source)
        finally:
            os.close(handle)
        counts = self._shelf.counts()
        self._shelf.place([counts[number] for number in range(len(counts))])
        self.count = sum(counts.values())
        self.version = planned.version

    def read(self, ranges: Sequence[RowRange], columns: Sequence[str] | None = None) -> Any:
        """These rows in this order."""
        found = self._shelf.read(ranges)
        return found if columns is None else found.select(list(columns))


def tables_folder(environment: Mapping[str, str]) -> Path:
    """Where this machine keeps tables."""
    base = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(environment.get("TRAINWAY_TABLES") or f"{base}/trainway/tables")
