"""Sends the output of jobs that have succeeded where they want it: beside the jobs, and repeatedly.

What is to be sent stands in the records of jobs, so a server that is killed leaves it to the next
one; sending it twice does no harm. A failure is the export's own, and the job stays as it ended.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from trainway.backends.capabilities import keeping_output
from trainway.backends.registry import Registry
from trainway.engine.background import Background
from trainway.engine.export.export import (
    MOST_ATTEMPTS,
    Export,
    ExportState,
    export_in,
    is_due,
    pause_after,
)
from trainway.engine.export.terms import why_not
from trainway.engine.export.uploading import Uploaded, upload
from trainway.engine.ledger import Ledger
from trainway.engine.record import Event, JobRecord
from trainway.engine.times import time_text
from trainway.errors import DatabaseError, NotFoundError, TrainwayError
from trainway.telemetry.log_subject import about, job_fields

log = logging.getLogger(__name__)

Upload = Callable[[Path, str, Mapping[str, str]], Awaitable[Uploaded]]
_AT_ONCE: Final = 2
_AGAIN_S: Final = 30.0


class Exporter:
    """The exports of all jobs."""

    def __init__(
        self,
        ledger: Ledger,
        registry: Registry,
        clock: Callable[[], datetime],
        send: Upload = upload,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._ledger = ledger
        self._registry = registry
        self._clock = clock
        self.send = send
        self._sleep = sleep
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._going: set[str] = set()
        self._background = Background()
        ledger.observers.append(self)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to send."""
        return not self._going

    async def start(self) -> None:
        """Go on with what an earlier server has left."""
        for record in await self._ledger.call(self._ledger.store.exporting):
            self._begin(record)

    async def close(self) -> None:
        """Leave the rest to the next server."""
        await self._background.close()

    def created(self, record: JobRecord) -> None:
        """Nothing is to be sent of a new job."""

    def changed(self, before: JobRecord, after: JobRecord) -> None:
        """Begin when a job has succeeded."""
        if after.export and before.phase != after.phase:
            self._begin(after)

    def gone(self, record: JobRecord) -> None:
        """Nothing is sent of a job that did not end."""

    def _begin(self, record: JobRecord) -> None:
        if is_due(record) and record.id not in self._going:
            self._going.add(record.id)
            task = self._background.spawn(self._run(record.id, record.name))
            task.add_done_callback(lambda _: self._going.discard(record.id))

    async def _run(self, job_id: str, name: str) -> None:
        with about(job_fields(job_id, name)):
            while True:
                try:
                    pause = await self._attempt(job_id)
                except NotFoundError:
                    return  # the job was deleted
                except DatabaseError as error:
                    log.warning("job %s is exported later: %s", job_id, error)
                    pause = _AGAIN_S
                if pause is None:
                    return
                await self._sleep(pause)

    async def _attempt(self, job_id: str) -> float | None:
        """Send the output once; the seconds until the next attempt, None: it is over."""
        async with self._room:
            record = await self._ledger.call(self._ledger.store.get, job_id)
            export = export_in(record)
            if export is None or not is_due(record):
                return None
            now = export.became(ExportState.UPLOADING, attempts=export.attempts + 1)
            await self._write(record, now)
            found = await self._sent(record, now)
            if found.error and not found.is_final and now.attempts < MOST_ATTEMPTS:
                await self._write(record, now.became(ExportState.WAITING, message=found.error))
                return pause_after(now.attempts)
            await self._write(record, _ended(now, found))
            return None

    async def _sent(self, record: JobRecord, export: Export) -> Uploaded:
        try:
            backend = self._registry.of(record.backend, record.handle_data)
            reason = why_not(backend, record.handle_data)
            if record.is_expired:
                reason = "its files were removed"
            if reason:
                return Uploaded(error=reason, is_final=True)
            folder = keeping_output(backend).output(record.handle_data)
            spec = await self._ledger.call(self._ledger.store.spec, record.id)
            return await self.send(folder, export.uri, spec.environ)
        except DatabaseError:
            raise
        except TrainwayError as error:
            return Uploaded(error=error.sentence)
        except OSError as error:
            return Uploaded(error=f"the upload could not be started: {error.strerror}")

    async def _write(self, record: JobRecord, export: Export) -> None:
        event = _event(export)
        events = []
        if event is not None:
            kind, reason, message = event
            now = time_text(self._clock())
            events.append(Event(now, kind, reason, message, f"job/{record.name}"))
        await self._ledger.write(record.id, {"export": export.column}, events)


def _ended(export: Export, found: Uploaded) -> Export:
    if found.error:
        return export.became(ExportState.FAILED, message=found.error)
    return export.became(ExportState.DONE, files=found.files, size=found.size)


def _event(export: Export) -> tuple[str, str, str] | None:
    """What a job's events tell of a state: kind, reason and message."""
    if export.state is ExportState.UPLOADING:
        first = ("Normal", "Exporting", f"the output is being sent to {export.uri}")
        return first if export.attempts == 1 else None
    if export.state is ExportState.DONE:
        files = f"{export.files} file{'s' * (export.files != 1)}"
        are = "is" if export.files == 1 else "are"
        return "Normal", "Exported", f"{files} of the output {are} in {export.uri}"
    if export.state is ExportState.FAILED:
        return "Warning", "ExportFailed", f"{export.uri}: {export.message}"
    return "Warning", "ExportDelayed", f"{export.uri}: {export.message}"
