"""Watches over jobs that say how long they may be silent, and ends the node of one that hangs.

A job is silent while it neither reports nor writes logs. Time is counted by a clock that nobody
sets, from when this server began to watch, so that neither a change of the clock nor a restart of
the server makes a job hang. What is done is an end like any other: the restarts of the job decide
what follows.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from trainway.backends import pod_access, pod_program
from trainway.backends.pod_access import WatchesLogs
from trainway.engine.live import LiveJob
from trainway.engine.phases import Phase
from trainway.engine.stacks.suspect import place_of, suspect
from trainway.engine.stacks.taking import Stacks
from trainway.engine.stored_job import Change
from trainway.engine.times import time_text
from trainway.errors import TrainwayError, UnavailableError
from trainway.jobset.hang import hang_timeout, time_left
from trainway.json_types import Json
from trainway.telemetry.log_subject import about, job_fields

log = logging.getLogger(__name__)

HANG: Final = "hang"
REASON: Final = "TrainingHang"
NOT_ENDED: Final = "HangNotEnded"
BLIND: Final = "HangNotKnown"
"""The reasons of events."""
INTERVAL_S: Final = 1.0


@dataclass
class _Watched:
    """A job that may not be silent for longer than that."""

    timeout: timedelta
    signs: object = None
    """What it has reported and written, when that was last looked at."""
    since: float = 0.0
    """When that last changed."""
    blind: str = ""
    """Why it cannot be watched, when that was last told."""


class HangWatch:
    """Looks at all jobs that run, again and again."""

    def __init__(self, stacks: Stacks, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._stacks = stacks
        self._monotonic = monotonic
        self._watched: dict[str, _Watched | None] = {}
        """None: it may be silent for as long as it likes."""
        self._have_logs: dict[type, bool] = {}

    async def run(self) -> None:
        """Watch until this is cancelled."""
        while True:
            await asyncio.sleep(INTERVAL_S)
            await self.look_at_all()

    async def look_at_all(self) -> None:
        """Look at those that may not be silent, and at those of whom that is not known yet.

        Thousands may be, and all others of the server wait for what is asked of each.
        """
        live = self._stacks.live
        self._watched = {key: known for key, known in self._watched.items() if key in live}
        for job in [job for job in live.values() if self._may_hang(job)]:
            with about(job_fields(job.id, job.record.name)):
                await self._try(job)

    def _may_hang(self, job: LiveJob) -> bool:
        if job.id in self._watched:
            return self._watched[job.id] is not None
        kind = type(job.backend)
        if kind not in self._have_logs:
            self._have_logs[kind] = isinstance(job.backend, WatchesLogs)  # which takes long
        return self._have_logs[kind]

    async def _try(self, job: LiveJob) -> None:
        try:
            await self.look(job)
        except (TrainwayError, OSError) as error:
            log.info("job %s: whether it hangs is not known: %s", job.id, error)
        except Exception:
            log.exception("job %s: whether it hangs is not known", job.id)

    async def look(self, job: LiveJob) -> None:
        """Look at one job, and end the node that hangs."""
        backend = job.backend
        if not job.record.handle or not isinstance(backend, WatchesLogs):
            return
        if job.id not in self._watched:
            timeout = timeout_of(await self._stacks.objects(job.id))
            self._watched[job.id] = _Watched(timeout) if timeout else None
        watched = self._watched[job.id]
        if watched is None:
            return
        record = job.record
        signs = (
            record.phase,
            record.attempt,
            record.progress,
            job.observation.progress,
            await backend.log_sizes(record.handle_data),
        )
        now = self._monotonic()
        if signs != watched.signs or record.phase != Phase.RUNNING:
            watched.signs, watched.since = signs, now
            return
        silent = timedelta(seconds=now - watched.since)
        if time_left(watched.timeout, [silent]) <= timedelta():
            watched.since = now
            gap = await backend.log_gap(record.handle_data)
            if not gap:
                await self._end(job, silent)
            elif gap != watched.blind:
                await self._tell_once(job, f"whether the job hangs is not known: {gap}")
                watched.blind = gap

    async def _end(self, job: LiveJob, silent: timedelta) -> None:
        record, backend = job.record, job.backend
        found = await self._stacks.take_from(record, backend, cause=HANG)
        reached = [rank for rank in found["ranks"] if not rank.get("unreached")]
        if not reached:
            raise UnavailableError("none of its pods can be reached, so it may be at work")
        blamed = suspect(reached)
        places = await pod_access.pod_places(backend, record.handle_data)
        key = (blamed["role"], blamed["job"], blamed["rank"])
        named = {(each["role"], each["replica"], each["rank"]): each for each in places}
        if key not in named:
            return
        message = hang_message(record.name, found, blamed, silent)
        hang = {
            "pod": f"{blamed['role']}-{blamed['job']}-{blamed['rank']}",
            "attempt": record.attempt,
            "message": message,
            "node": blamed["node"],
            "since": time_text(datetime.fromisoformat(found["time"]) - silent),
        }
        if job.record.attempt != record.attempt or job.record.phase != Phase.RUNNING:
            return
        job.observation.hang = hang
        await self._tell(job, REASON, f"{blamed['node']} hangs: {message}")
        try:
            await pod_program.end(backend, record.handle_data, named[key])
        except (TrainwayError, OSError) as error:
            why = error.message if isinstance(error, TrainwayError) else error.strerror
            await self._tell(job, NOT_ENDED, f"{blamed['node']} could not be ended: {why}")

    async def _tell_once(self, job: LiveJob, message: str) -> None:
        """Write an event, unless the database cannot be written now."""
        event = job.event(BLIND, message, kind="Warning")
        await job.observe(lambda: Change({}, [event]))

    async def _tell(self, job: LiveJob, reason: str, message: str) -> None:
        event = job.event(reason, message, kind="Warning")
        await job.insist(lambda: Change({"observed": job.observation.to_dict()}, [event]))


def timeout_of(objects: Iterable[Json]) -> timedelta | None:
    """How long a job may be silent, as an annotation of what was submitted says."""
    for obj in objects:
        metadata = obj.get("metadata")
        annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
        timeout = hang_timeout(annotations) if isinstance(annotations, dict) else None
        if timeout is not None:
            return timeout
    return None


def hang_message(name: str, stacks: Json, rank: Json, silent: timedelta) -> str:
    """Since when it hangs, where it is, and where the stacks are."""
    where = f"; it is in {place_of(rank)}" if place_of(rank) else ""
    seconds = int(silent.total_seconds())
    shown = f"trainway jobs stacks {name} --attempt {stacks['attempt'] + 1} shows all stacks"
    return (
        f"no report and no line of a log for {seconds} s until {stacks['time']}{where}; "
        f"{stacks.get('problem') or shown}"
    )
