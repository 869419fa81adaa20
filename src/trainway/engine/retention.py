"""Cleans up after jobs that are over.

When `ttlSecondsAfterFinished` has passed, files go and history stays. Of a job that its owner
deletes nothing stays: that is noted first, so that it happens whatever comes between.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final

from trainway.backends.registry import Registry
from trainway.engine.export.export import is_due
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.phases import Phase
from trainway.engine.record import AT_ONCE, Event, JobRecord
from trainway.engine.times import time_text
from trainway.engine.wishes import DELETE
from trainway.errors import ConflictError, DatabaseError, TrainwayError
from trainway.telemetry.log_subject import about, job_fields

log = logging.getLogger(__name__)

ABANDONED: Final = "Abandoned"
"""The reason of a job that was forgotten while it could not be reached."""
FORCE_HINT: Final = "try again later, or delete the job here with trainway jobs delete --force"
_AGAIN_S: Final = 60.0
"""When to try again what could not be removed."""


class Retention:
    """Removes the directories of jobs when their time is over."""

    def __init__(self, ledger: Ledger, registry: Registry, clock: Callable[[], datetime]) -> None:
        self._ledger = ledger
        self._registry = registry
        self._clock = clock
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._going: dict[str, asyncio.Task[None]] = {}
        """The jobs that are being forgotten."""

    def start(self) -> None:
        """Look after all jobs in the store."""
        self._task = asyncio.create_task(self._run())

    def stop(self) -> None:
        """Look after them no more."""
        for task in (self._task, *self._going.values()):
            if task is not None:
                task.cancel()

    def look_again(self) -> None:
        """Note that another job is over."""
        self._changed.set()

    async def forget(self, job: JobRecord) -> None:
        """Remove all of a job that is over. Once that is noted, it happens, now or later."""
        with about(job_fields(job.id, job.name)):
            await self._forget(job)

    async def _forget(self, job: JobRecord) -> None:
        if job.wanted != DELETE:
            noting = self._ledger.call(
                self._ledger.store.update, job.id, {"wanted": DELETE, "expires": AT_ONCE}
            )
            await self._ledger.settled(noting, partial(self._is_noted, job.id))
        try:
            await self._forgotten(job)
        except DatabaseError as error:
            log.warning("job %s is forgotten later: %s", job.id, error)
            self._changed.set()
        except TrainwayError:
            with contextlib.suppress(DatabaseError):
                expires = None if job.expires == AT_ONCE else job.expires
                await self._ledger.write(job.id, {"wanted": "", "expires": expires})
            raise

    async def erase(self, job_id: str) -> None:
        """Remove the record of a job."""
        store = self._ledger.store
        while await self._ledger.call(store.metrics.remove_one, job_id):
            pass  # one series at a time, so that others need not wait for all
        erasing = self._ledger.call(store.delete, job_id)
        await self._ledger.settled(erasing, lambda: not store.has(job_id))
        self._ledger.changes.notify(job_id)

    async def abandon(self, record: JobRecord, live: LiveJob | None) -> JobRecord:
        """Remove the record of a job that cannot be reached, and let go of it; how it ends."""
        if live is None:
            await self.erase(record.id)
            return record
        async with live.pen:
            await self.erase(record.id)
        ended = live.record.with_columns(live.ending(Phase.CANCELLED, "", "").columns)
        await live.detach()
        return ended

    def _is_noted(self, job_id: str) -> bool:
        store = self._ledger.store
        return not store.has(job_id) or store.get(job_id).wanted == DELETE

    def _forgotten(self, job: JobRecord) -> "asyncio.Future[None]":
        """Remove what is kept of a job and then its record; done once, whoever asks."""
        if job.id not in self._going:
            task = self._going[job.id] = asyncio.create_task(self._remove(job))
            task.add_done_callback(lambda _: self._going.pop(job.id, None))
        return asyncio.shield(self._going[job.id])

    async def _remove(self, job: JobRecord) -> None:
        backend = self._registry.of(job.backend, job.handle_data)
        await backend.delete(job.handle_data)
        await self.erase(job.id)

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            pause: float | None = None
            try:
                pause = await self._sweep()
            except Exception:
                log.exception("cleaning up failed")
                pause = _AGAIN_S
            try:
                await asyncio.wait_for(self._changed.wait(), pause)
            except TimeoutError:
                continue

    async def _sweep(self) -> float | None:
        """Remove what is due; the time until the next one is."""
        put_off: float | None = None
        for job in await self._ledger.call(self._ledger.store.expiring):
            left = (job.expires or 0.0) - self._clock().timestamp()
            if left > 0:
                return left if put_off is None else min(left, put_off)
            with about(job_fields(job.id, job.name)):
                try:
                    await self._expire(job)
                except TrainwayError as error:
                    log.info("job %s cannot be cleaned up yet: %s", job.id, error)
                    put_off = _AGAIN_S
        return put_off

    async def _expire(self, job: JobRecord) -> None:
        if job.wanted == DELETE:
            await self._forgotten(job)
            return
        if is_due(job):
            raise ConflictError("its output is being exported")
        backend = self._registry.of(job.backend, job.handle_data)
        await backend.delete(job.handle_data)
        text = f"the files of the job were removed {job.ttl_seconds} seconds after its end"
        event = Event(time_text(self._clock()), "Normal", "Expired", text, f"job/{job.name}")
        await self._ledger.write(job.id, {"expires": None, "is_expired": True}, [event])
