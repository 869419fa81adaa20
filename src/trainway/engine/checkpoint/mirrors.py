"""Mirrors the output of all jobs that name a bucket, while they run and once more at their end.

The server does it, with its own credentials: it has the output of this machine, and gets that of
hosts and of Slurm. A job that ended while no server ran, or while the bucket could not be reached,
is found by the note beside its output. What fails for one job is tried again, and keeps no other
job waiting.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trainway.backends.capabilities import KeepsOutput
from trainway.backends.output_bringing import BringsOutput
from trainway.engine.checkpoint.annotation import NOTE, location_of
from trainway.engine.live import LiveJob
from trainway.engine.reading import Reading
from trainway.engine.record import JobRecord
from trainway.engine.stored_job import Change
from trainway.errors import DatabaseError, NotFoundError, TrainwayError
from trainway.telemetry.log_subject import about, job_fields

if TYPE_CHECKING:
    from trainway.data.uri import Location
    from trainway.engine.checkpoint.mirror import Mirror

log = logging.getLogger(__name__)

LOOK_S: Final = 2.0
"""How long a file must be unchanged to count as complete."""
_SHARE: Final = 4.0
"""The pause after a look, as a multiple of what it took."""
_MOST_FAILURES: Final = 30
"""After so many in a row the rest of a job that is over is left to the next server."""
NOT_MIRRORED: Final = "CheckpointNotMirrored"


@dataclass
class _Trouble:
    why: str = ""
    failures: int = 0
    """Without those of the store, which has the same trouble with every job."""


@dataclass
class _Mirrored:
    mirror: "Mirror"
    name: str
    failures: int = 0
    """Since the end of the job."""
    told: str = ""
    due: float = 0.0
    """When it is looked at next: a directory that takes long to look at is looked at less often."""
    task: asyncio.Task[None] | None = None
    """The look that is under way; what takes long keeps no other job waiting."""


class Mirrors:
    """Looks at all jobs that run, again and again; observes those that end, as `Ledger` has it."""

    def __init__(self, live: Mapping[str, LiveJob], reading: Reading, jobs: Path) -> None:
        self._live = live
        self._reading = reading
        self._jobs = jobs
        self._known: dict[str, _Mirrored | None] = {}
        """The jobs that are looked at; None: one that has nothing to be mirrored."""
        self._ended: list[str] = []
        """Jobs that nobody has looked at before they were over."""
        self._troubles: dict[str, _Trouble] = {}
        """Jobs that could not be taken up so far."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is to be mirrored."""
        return not self._ended and not any(self._known.values())

    def created(self, record: JobRecord) -> None:
        """It has written nothing yet."""

    def gone(self, record: JobRecord) -> None:
        """What was forgotten is not mirrored."""
        self._troubles.pop(record.id, None)

    def changed(self, before: JobRecord, after: JobRecord) -> None:
        """Remember a job that was over before it was looked at, or begins anew elsewhere."""
        if not after.started and self._known.get(after.id, ...) is None:
            del self._known[after.id]  # it had no note there
        if after.is_over and not before.is_over and after.started and after.id not in self._known:
            self._ended.append(after.id)

    async def run(self) -> None:
        """Mirror until this is cancelled."""
        is_found = await _survived(self._find_ended)
        while True:
            await asyncio.sleep(LOOK_S)
            is_found = is_found or await _survived(self._find_ended)
            await _survived(self.look)

    async def look(self) -> list["asyncio.Task[None]"]:
        """Look at each job once that nobody looks at; the looks that have begun."""
        for key in list(self._ended):
            if await self._tried(key, self._take_up(key)):
                self._ended.remove(key)
        for live in list(self._live.values()):
            if live.record.started and live.id not in self._known:
                await self._tried(live.id, self._take_up_live(live))
        begun = []
        for key, mirrored in list(self._known.items()):
            if mirrored is None:
                if key not in self._live:
                    del self._known[key]
            elif mirrored.task is None and mirrored.due <= time.monotonic():
                mirrored.task = asyncio.create_task(self._look(key, mirrored))
                begun.append(mirrored.task)
        return begun

    async def _look(self, key: str, mirrored: _Mirrored) -> None:
        job, began = self._live.get(key), time.monotonic()
        with about(job_fields(key, mirrored.name)):
            try:
                if await self._looked(mirrored, job) and job is None:
                    self._known.pop(key, None)
            finally:
                now = time.monotonic()
                mirrored.due, mirrored.task = now + _SHARE * (now - began), None

    async def _looked(self, mirrored: _Mirrored, job: LiveJob | None) -> bool:
        """Mirror a job; whether that is done with, for one that is over."""
        try:
            if job is not None and isinstance(job.backend, KeepsOutput):
                mirrored.mirror.output = job.backend.output(job.record.handle_data)
            if job is not None and isinstance(job.backend, BringsOutput):
                await job.backend.bring(job.record.handle_data)
            await asyncio.to_thread(mirrored.mirror.look, is_over=job is None)
        except asyncio.CancelledError:
            mirrored.mirror.stop()
            raise
        except Exception as error:  # noqa: BLE001 - a full disk, the network, credentials, ...
            mirrored.failures += job is None
            await self._tell(mirrored, job, _words(error))
            return mirrored.failures >= _MOST_FAILURES
        mirrored.failures, mirrored.told = 0, ""
        return True

    async def _tell(self, mirrored: _Mirrored, job: LiveJob | None, why: str) -> None:
        if why == mirrored.told:
            return
        message = f"{mirrored.mirror.location}: {why}"
        log.warning("job %s: its output is not mirrored: %s", mirrored.mirror.job, message)
        if job is not None:
            event = job.event(NOT_MIRRORED, message, kind="Warning")
            try:
                await job.observe(lambda: Change({}, [event]))
            except DatabaseError as error:
                log.warning("job %s: it will be told later: %s", mirrored.mirror.job, error)
                return
        mirrored.told = why

    async def _tried(self, key: str, work: Awaitable[None]) -> bool:
        """Do what may fail for one job; whether that is done with, and not to be tried again."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - the store, the disk, ...
            trouble = self._troubles.setdefault(key, _Trouble())
            trouble.failures += not isinstance(error, DatabaseError)
            if trouble.why != _words(error):
                trouble.why = _words(error)
                log.warning("job %s: its output is not mirrored: %s", key, trouble.why)
            if trouble.failures < _MOST_FAILURES:
                return False
        self._troubles.pop(key, None)
        return True

    async def _take_up_live(self, job: LiveJob) -> None:
        self._known[job.id] = await self._mirrored(job)

    async def _mirrored(self, job: LiveJob) -> _Mirrored | None:
        """The mirror of a job, if it has one: then there was a note before it was started."""
        if not isinstance(job.backend, KeepsOutput):
            return None
        output = job.backend.output(job.record.handle_data)
        if not output.with_name(NOTE).exists():
            return None
        location = location_of(await self._reading.objects(job.id), job.record)
        if location is None:
            return None
        return _Mirrored(_mirror(output, location, job.id), job.record.name)

    async def _find_ended(self) -> None:
        """Take up jobs that ended before all of them was mirrored."""
        for note in await asyncio.to_thread(lambda: sorted(self._jobs.glob(f"*/{NOTE}"))):
            key = note.parent.name
            if self._live.get(key) is None and not await self._tried(key, self._take_up(key)):
                self._ended.append(key)

    async def _take_up(self, key: str) -> None:
        """Mirror the rest of a job that is over, if there is any.

        One that this server could not take up may run on, with files that are half written.
        """
        output = self._jobs / key / "output"
        if not output.with_name(NOTE).exists():
            return
        try:
            record, objects = await self._reading.whole(key)
        except NotFoundError:
            return
        location = location_of(objects, record) if record.is_over else None
        mirror = None if location is None else _mirror(output, location, key)
        if mirror is not None and await asyncio.to_thread(mirror.is_pending):
            self._known[key] = _Mirrored(mirror, key)


async def _survived(work: Callable[[], Awaitable[object]]) -> bool:
    """Whether something worked; if not, the log says why, and it can be tried again."""
    try:
        await work()
    except Exception:
        log.exception("outputs cannot be looked at")
        return False
    return True


def _words(error: Exception) -> str:
    return error.sentence if isinstance(error, TrainwayError) else str(error)


def _mirror(output: Path, location: "Location", job: str) -> "Mirror":
    from trainway.engine.checkpoint.mirror import Mirror  # noqa: PLC0415 - seldom needed

    return Mirror(output, location, job)
