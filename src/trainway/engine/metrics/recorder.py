"""Takes reports as they come, and writes them in batches, once a second.

Nobody who reports waits for the database. What changes of a job's record with its reports is stored
together with them: the newest one, and how far its journal was read. So a report of a journal that
a crash has lost is read again, and kept once; one that was sent to the server itself is lost if it
came in the last second. While the database cannot be written, reports are held, the newest of them.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Protocol

from trainway.engine.changes import Changes
from trainway.engine.ledger import Ledger
from trainway.engine.metrics.report import Report, report_of
from trainway.errors import DatabaseError
from trainway.json_types import Json

log = logging.getLogger(__name__)

INTERVAL_S: Final = 1.0
_LONGEST_INTERVAL_S: Final = 30.0
_BATCH_VALUES: Final = 10_000
_HELD_VALUES: Final = 200_000


class Reporting(Protocol):
    """A job that reports."""

    @property
    def id(self) -> str:
        """The id of the job."""

    def recorded(self, columns: Mapping[str, Any]) -> None:
        """Take up what was stored of the job's record."""


@dataclass(frozen=True)
class _News:
    """What is to be stored of a job's record."""

    job: Reporting
    columns: Mapping[str, Any]


class Recorder:
    """What was reported and is not stored yet."""

    def __init__(self, ledger: Ledger) -> None:
        self.changes = Changes()
        """Of the stored history of each job."""
        self._ledger = ledger
        self._store = ledger.store.metrics
        self._held: deque[tuple[str, Report]] = deque()
        self._values = 0
        self._news: dict[str, _News] = {}
        self._writing = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._interval_s = INTERVAL_S

    async def note(self, job_id: str, reports: Iterable[Report]) -> None:
        """Take reports of a job; only who brings very many at once waits until some are stored."""
        for report in reports:
            self._hold(job_id, report)
            if self._values >= _BATCH_VALUES and self._interval_s == INTERVAL_S:
                await self.flush()

    async def note_status(self, job_id: str, status: Json, noted: str) -> None:
        """Take what a trainer's status reports; `noted` is when, if it does not say so itself."""
        report = report_of(status, noted)
        if report is not None:
            await self.note(job_id, [report])

    def tell(self, job: Reporting, columns: Mapping[str, Any]) -> None:
        """Have columns of a job's record stored, with or after all its reports taken so far."""
        known = self._news.get(job.id)
        self._news[job.id] = _News(job, {**(known.columns if known else {}), **columns})
        self._set_timer()

    async def settle(self, job_id: str) -> None:
        """Let nothing of a job's record be written any more that was told so far."""
        if job_id in self._news:
            await self.flush()
            self._news.pop(job_id, None)

    async def position(self, job_id: str, source: str) -> str:
        """How far a source of a job was read by what was taken so far; empty: not at all."""
        await self.flush()
        return await self._ledger.call(self._store.position, job_id, source)

    async def flush(self) -> None:
        """Store what was taken so far; what fails is tried again later."""
        async with self._writing:
            while self._held or self._news:
                batch = list(islice(self._held, self._batch_length()))
                # Only with the last of its reports: it says that they are stored.
                news = dict(self._news) if len(batch) == len(self._held) else {}
                columns = {job_id: told.columns for job_id, told in news.items()}
                try:
                    await self._ledger.settled(
                        self._ledger.call(self._store.append, batch, columns),
                        self._store.has_newest,
                    )
                except DatabaseError as error:
                    log.warning("metrics are stored later: %s", error)
                    self._interval_s = min(2 * self._interval_s, _LONGEST_INTERVAL_S)
                    self._set_timer()
                    return
                self._interval_s = INTERVAL_S
                self._stored(batch, news)

    async def close(self) -> None:
        """Store the rest, once."""
        self._clear_timer()
        await self.flush()
        self._clear_timer()

    def _hold(self, job_id: str, report: Report) -> None:
        self._held.append((job_id, report))
        self._values += len(report.values)
        dropped = 0
        while self._values > _HELD_VALUES and not self._writing.locked():
            self._values -= len(self._held.popleft()[1].values)
            dropped += 1
        if dropped:
            log.warning("%d reports of metrics are lost: the database is not written", dropped)
        self._set_timer()

    def _batch_length(self) -> int:
        """How many reports are written at a time."""
        values = 0
        for number, (_, report) in enumerate(self._held, start=1):
            values += len(report.values)
            if values >= _BATCH_VALUES:
                return number
        return len(self._held)

    def _stored(self, batch: list[tuple[str, Report]], news: Mapping[str, _News]) -> None:
        for _, report in batch:
            self._held.popleft()
            self._values -= len(report.values)
        for job_id in {job_id for job_id, _ in batch}:
            self.changes.notify(job_id)
        for job_id, told in news.items():
            if self._news.get(job_id) is told:
                del self._news[job_id]
            told.job.recorded(told.columns)
            self._ledger.changes.notify(job_id)

    def _set_timer(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._interval_s, self._on_time)

    def _clear_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_time(self) -> None:
        self._timer = None
        self._task = asyncio.get_running_loop().create_task(self.flush())
