"""Copies of schedules beside the database, from which one that was damaged gets them back.

A copy is written after the schedule is stored, and removed before that is forgotten. So a copy
without a schedule is one that the database has lost, whenever a server was killed, and the next
server takes it up. What was due meanwhile is not made up for: nobody knows what was submitted.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from trainway.backends.agents.jobdir import write_private
from trainway.engine.ledger import Ledger
from trainway.engine.schedule.record import ScheduleRecord, read_submission
from trainway.errors import DatabaseError, TrainwayError
from trainway.schedule.moments import next_moment

log = logging.getLogger(__name__)

_NO_COPY: Final = (OSError, ValueError, TypeError, KeyError, RecursionError, TrainwayError)


class ScheduleCopies:
    """The copies of one server; there are none until it is said where."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.folder: Path | None = None

    async def keep(self, record: ScheduleRecord) -> None:
        """Copy a schedule as it is now; a disk that is full is no reason to refuse it."""
        if self.folder is None:
            return
        try:
            await self._ledger.call(self._write, record, self.folder)
        except DatabaseError as error:
            log.warning("the schedule %s has no copy: %s", record.name, error)

    async def remove(self, schedule_id: str) -> None:
        """Remove a copy; a DatabaseError if it stays, since the schedule would come back."""
        if self.folder is not None:
            await self._ledger.call((self.folder / f"{schedule_id}.json").unlink, missing_ok=True)

    async def found(self, records: Sequence[ScheduleRecord], now: str) -> list[ScheduleRecord]:
        """All schedules: those of the store, each with a copy, and those that it has lost."""
        if self.folder is None:
            return list(records)
        copies = await self._ledger.call(self._read, self.folder)
        for record in records:
            if copies.get(record.id, (None,))[0] != _lasting(record):
                await self.keep(record)
        lost = [copies[id_] for id_ in sorted(copies.keys() - {each.id for each in records})]
        taken = {record.name for record in records}
        kept = list(records)
        for copy, submission in lost:
            if copy.name in taken:
                log.warning("the schedule %s is there; its copy %s is left", copy.name, copy.id)
                continue
            record = replace(copy, until=now)
            await self._ledger.call(self._ledger.store.schedules.add, record, submission)
            log.warning("the schedule %s was found again in its copy", record.name)
            taken.add(record.name)
            kept.append(record)
        return kept

    def _write(self, record: ScheduleRecord, folder: Path) -> None:
        submission = self._ledger.store.schedules.submission(record.id)
        folder.mkdir(mode=0o700, exist_ok=True)
        text = json.dumps({"record": asdict(_lasting(record)), "submission": submission})
        write_private(folder / f"{record.id}.json", text.encode(), is_durable=True)

    def _read(self, folder: Path) -> dict[str, tuple[ScheduleRecord, str]]:
        """The copies by id; what is none is left alone."""
        found = {}
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
            try:
                data: dict[str, Any] = json.loads(path.read_bytes())
                record, submission = ScheduleRecord(**data["record"]), str(data["submission"])
                read_submission(submission)
                next_moment(record.parsed, record.wall, record.decided)
            except _NO_COPY as error:
                log.warning("%s is not the copy of a schedule: %s", path, error)
                continue
            if f"{record.id}.json" == path.name:
                found[record.id] = record, submission
        return found


def _lasting(record: ScheduleRecord) -> ScheduleRecord:
    """What does not change when it fires."""
    return replace(record, until=record.created, waiting="[]", outcome=None)
