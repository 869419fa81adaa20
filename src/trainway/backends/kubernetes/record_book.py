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
from trainway.backends.kubernetes.observed_job import LEFT, SUBMITTED
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

    def is_submitted(self) -> bool:
        """Whether the job was given to this cluster, and has not left it."""
        return self._last_move() == SUBMITTED

    def has_left(self) -> bool:
        """Whether the job has left this cluster."""
        return self._last_move() == LEFT

    def has_ended(self) -> bool:
        """Whether the job is over."""
        return any(record.get("type") == "end" for record in self.read())

    def _last_move(self) -> str:
        moves = [str(each.get("event")) for each in self.read() if each.get("type") == "agent"]
        return moves[-1] if moves else ""

    def status(self) -> Json:
        """The last status of the JobSet, wherever it was; empty: there is none."""
        known = (each for each in reversed(self.read()) if each.get("type") == "status")
        return next((dict(each.get("jobset") or {}) for each in known), {})

    def append(self, records: Iterable[Json], after: int | None = None) -> list[Json]:
        """Number records from there on, or after the last one, and keep them.

        They are given the time where they have none.
        """
        if after is None:
            known = self.read()
            after = int(known[-1]["seq"]) if known else -1
        now = self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        numbered = [
            {"seq": seq, "time": now, **record}
            for seq, record in enumerate(records, start=after + 1)
        ]
        text = "".join(f"{json.dumps(record)}\n" for record in numbered)
        job_file.append(self.directory, self._path, text.encode())
        return numbered
