"""All metrics of one job that is not over: its reports, and what is read of its log and its files.

Before a job is over for others, everything is read that it has written; so whoever sees it ended
sees its last values too.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from trainway.api.metrics_from_logs import pattern_of
from trainway.backends.base import Backend, Handle, Update
from trainway.backends.capabilities import KeepsLogs, KeepsOutput
from trainway.engine.background import Background
from trainway.engine.metrics.journal_reports import JournalReports, Watched
from trainway.engine.metrics.recorder import Recorder
from trainway.engine.metrics.sources import log_metrics
from trainway.engine.metrics.sources.event_files import EventFiles
from trainway.engine.metrics.sources.log_metrics import LogMetrics
from trainway.engine.metrics.sources.matcher import Matcher, SlowPatternError
from trainway.engine.observation import Observation
from trainway.engine.record import Event
from trainway.engine.stored_job import Change, Decide
from trainway.engine.submission import parted
from trainway.json_types import Json

log = logging.getLogger(__name__)

SLOW: Final = "MetricsPatternTooSlow"
_LAST_OF_LOG_S: Final = 30.0
_LAST_OF_FILES_S: Final = 3.0
"""How long the end of a job waits for the last of its metrics, in seconds; the rest comes later.

Every job that may write files waits for a look at them, so a disk that does not answer counts here.
"""


class Owner(Watched, Protocol):
    """The job, as far as it matters here."""

    backend: Backend
    background: Background

    def event(self, reason: str, message: str, kind: str = "Normal") -> Event:
        """Something that happens to it now."""
        ...

    async def insist(self, decide: Decide) -> None:
        """Have a change written."""
        ...


class JobMetrics:
    """Takes what a job reports, and reads what it writes."""

    def __init__(self, owner: Owner, recorder: Recorder) -> None:
        self._owner = owner
        self._recorder = recorder
        self._reports = JournalReports(recorder, owner)
        self._ended = asyncio.Event()
        self._reading: dict[asyncio.Task[None], float] = {}
        """How long the end of the job waits for each of them."""

    async def take(self, update: Update, observed: Observation) -> bool:
        """Have reports kept, as `JournalReports` says; at the end also all that is to be read."""
        if observed.end is not None and self._reading:
            self.close()
            last = (
                asyncio.wait([task], timeout=seconds) for task, seconds in self._reading.items()
            )
            if any(unread for _, unread in await asyncio.gather(*last)):
                log.warning("job %s: its last metrics come later, if at all", self._owner.id)
            await self._recorder.flush()
        return await self._reports.take(update, observed)

    def begin(self, objects: Sequence[Json]) -> None:
        """Read what the job writes, as it asks for; once."""
        record, backend = self._owner.record, self._owner.backend
        pattern = pattern_of(parted(objects)[0])
        if self._reading:
            return
        if pattern is not None and isinstance(backend, KeepsLogs):
            self._spawn(self._read_log(backend, record.handle_data, pattern), _LAST_OF_LOG_S)
        if isinstance(backend, KeepsOutput):
            self._spawn(self._read_files(backend.output(record.handle_data)), _LAST_OF_FILES_S)

    def _spawn(self, work: Coroutine[Any, Any, None], last_s: float) -> None:
        self._reading[self._owner.background.spawn(work)] = last_s

    async def _read_files(self, output: Path) -> None:
        job_id = self._owner.id
        try:
            await EventFiles(job_id, output, self._recorder).read(self._ended)
        except Exception:
            log.exception("job %s: no more metrics are read from its files", job_id)

    def close(self) -> None:
        """Read to the end, and no longer."""
        self._ended.set()

    async def _read_log(self, backend: KeepsLogs, handle: Handle, pattern: str) -> None:
        job_id = self._owner.id
        position = await self._recorder.position(job_id, log_metrics.SOURCE)
        source = LogMetrics(job_id, backend, handle, self._recorder, Matcher(pattern))
        try:
            await source.read(position, self._ended)
        except SlowPatternError as error:
            said = (
                "the pattern of trainway.dev/metrics-from-logs takes too long, so no more metrics "
                f"are read from the log; the line begins with {error.line!r}"
            )
            event = self._owner.event(SLOW, said, kind="Warning")
            self._owner.background.spawn(self._owner.insist(lambda: Change({}, [event])))
        except Exception:
            log.exception("job %s: no more metrics are read from its log", job_id)
