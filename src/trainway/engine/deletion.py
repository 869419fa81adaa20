"""Deleting jobs: one that runs ends first, and one that cannot be reached is forgotten by force."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from trainway.backends.base import Absence
from trainway.backends.capabilities import Remote
from trainway.backends.registry import Registry
from trainway.engine import wishing
from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.reading import Reading
from trainway.engine.record import JobRecord
from trainway.engine.retention import ABANDONED, FORCE_HINT, Retention
from trainway.errors import UnavailableError
from trainway.json_types import Json
from trainway.telemetry.log_subject import about, job_fields

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Deletion:
    """What deleting needs of the engine."""

    reading: Reading
    registry: Registry
    live: LiveJobs
    retention: Retention
    forgotten: Callable[[JobRecord], None]
    """Called when a job is forgotten that nobody looks after."""
    gone: Callable[[LiveJob], None]
    """Called when one is forgotten that may still run."""

    async def delete(self, ref: str, *, force: bool) -> Json:
        """End a job if it runs, wait until all of it is gone, and forget it."""
        record, objects = await self.reading.whole(ref)
        backend = self.registry.of_stored(record.backend, record.handle_data)
        if isinstance(backend, Remote):
            absence = await backend.absence(record.handle_data)
            if absence is not None and not force:
                raise UnavailableError(absence.problem, hint=FORCE_HINT)
            if absence is not None:
                return await self._abandon(record, objects, backend, absence)
        live = self.live.get(record.id)
        if (left := self.live.left.get(record.id)) is not None:
            remains = f"what there is of it at {record.backend} stays there"
            if not force:
                raise UnavailableError(left.message, hint=FORCE_HINT)
            return await self._abandon(record, objects, None, Absence(left.message, remains))
        if live is not None:
            await live.alter(lambda: wishing.deleting(live))
            await live.over.wait()
            record = live.record
            if not record.is_over:
                raise UnavailableError("the server stops before the job has ended")
        await self.retention.forget(record)
        self.forgotten(record)
        return self.reading.shown(record, objects)

    async def _abandon(
        self, record: JobRecord, objects: list[Json], backend: Remote | None, absence: Absence
    ) -> Json:
        """Forget a job that cannot be reached."""
        live = self.live.get(record.id)
        record = await self.retention.abandon(record, live)
        self.live.forget_left(record.id)
        self.forgotten(record) if live is None else self.gone(live)
        with about(job_fields(record.id, record.name)):
            log.warning("job %s is forgotten: %s; %s", record.id, absence.problem, absence.remains)
        view = self.reading.shown(record, objects)
        view["status"] |= {"reason": ABANDONED, "message": absence.remains}
        if backend is not None:
            await backend.forget(record.handle_data)
        return view
