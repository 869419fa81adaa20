"""What is known of a job, written down as it becomes known: the journal of a job in a cluster.

A local job has an agent that writes its journal; here the backend does, from what it sees. So the
next server knows which events it has told already, and a job's end outlives its objects.
"""

import json
import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from trainway.agent.base.journal_reader import NAME, records_in
from trainway.backends import job_file
from trainway.json_types import Json


class RecordBook:
    """The records of one job; only ever appended to, by one writer."""

    def __init__(
        self, directory: Path, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.directory = directory
        self._path = directory / NAME
        self._clock = clock

    def read(self) -> list[Json]:
        """All records; a line that was cut off when its writer died is none."""
        try:
            file = os.fdopen(job_file.opened(self.directory, self._path, os.O_RDWR), "r+b")
        except FileNotFoundError:
            return []
        with file:
            data = file.read()
            records, whole = records_in(data)
            if whole < len(data):
                file.truncate(whole)
        return records

    def exists(self) -> bool:
        """Whether anything was ever written."""
        return self._path.exists()

    def append(self, records: Iterable[Json], after: int) -> list[Json]:
        """Number records from there on, give them the time where they have none, and keep them."""
        now = self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        numbered = [
            {"seq": seq, "time": now, **record}
            for seq, record in enumerate(records, start=after + 1)
        ]
        text = "".join(f"{json.dumps(record)}\n" for record in numbered)
        job_file.append(self.directory, self._path, text.encode())
        return numbered
