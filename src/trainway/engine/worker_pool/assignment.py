"""Which worker a job has: it is written into the job's handle when the job starts. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from trainway.agent.controllers import gang_queue
from trainway.agent.controllers.gang_queue import Verdict
from trainway.backends.base import Devices
from trainway.backends.pool.planning import at_queue
from trainway.engine.live import LiveJob
from trainway.engine.queue import QueuedGang
from trainway.engine.queues.gangs import request_of
from trainway.engine.record import JobRecord
from trainway.engine.stored_job import Change
from trainway.families.builtin import WORKERS
from trainway.queueing.amounts import Amounts

WORKER: Final = "worker"
"""The resource of which a job of a worker pool takes one."""
_PREFIX: Final = f"{WORKERS}/"
_PLENTY: Final = 1 << 62


def is_for_workers(backend: str) -> bool:
    """Whether jobs of a backend run on the workers of a pool."""
    return backend.startswith(_PREFIX)


def worker_of(record: JobRecord) -> str:
    """The worker that a job was given; empty: none."""
    if not is_for_workers(record.backend) or record.devices == "":
        return ""
    return str(record.handle_data.get("queue") or "")


def left_on(left: Mapping[str, JobRecord]) -> set[str]:
    """The workers of jobs that could not be taken up, as far as their records can be read."""
    found = set()
    for record in left.values():
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            found.add(worker_of(record))
    return found - {""}


@lru_cache(20_000)
def worker_request(demand: str, devices: str) -> Amounts:
    """What a job asks for, and a worker; the same object for the same."""
    return {**request_of(demand, devices), WORKER: 1}


@dataclass(frozen=True)
class FreeWorkers:
    """The workers of a pool that have no job."""

    names: Sequence[str]
    why_none: str
    """What a job is told for which there is none."""
    old: Sequence[str] = ()
    """Those of a former version, which only jobs get that were there before."""


class WorkerPlace:
    """The workers of a pool that are free while a decision is made."""

    def __init__(
        self,
        free: FreeWorkers,
        bound: Mapping[str, str],
        resources: Iterable[str],
    ) -> None:
        self._workers = list(free.names)
        self._old = [name for name in free.old if name in bound.values()]
        self._why_none = free.why_none
        """What a job is told that gets none."""
        self._bound = bound
        """The worker of each job that had one before it was suspended, by the job's id."""
        self.free: Amounts = {**dict.fromkeys(resources, _PLENTY), WORKER: self._count}
        """Workers alone are counted: each has all that a job of its pool may ask for."""

    def hopeless(self, gang: QueuedGang) -> Verdict | None:  # noqa: ARG002 - it was seen at intake
        """Nobody: what a worker cannot run is refused when it is submitted."""
        return None

    def judge(self, gang: QueuedGang) -> Verdict:
        """Which worker it gets, or that there is none."""
        bound = self._bound.get(gang.id)
        if bound and bound not in (*self._workers, *self._old):
            said = f"its worker {bound} has another job"
            return gang_queue.wait(gang_queue.QUEUED, said, holds_back=False)
        if not bound and not self._workers:
            return gang_queue.wait(gang_queue.QUEUED, self._why_none)
        return gang_queue.start({"": {WORKER: [bound or self._workers[0]]}})

    def take(self, gang: QueuedGang, devices: Devices) -> None:  # noqa: ARG002 - as above
        """One worker less is free."""
        worker = given_worker(devices)
        (self._workers if worker in self._workers else self._old).remove(worker)
        self.free = {**self.free, WORKER: self._count}

    @property
    def _count(self) -> int:
        return len(self._workers) + len(self._old)


def given_worker(devices: Devices) -> str:
    """The worker among what a job was given; empty: there is none."""
    for kinds in devices.values():
        for name in kinds.get(WORKER, ()):
            return str(name)
    return ""


def beginning_on(live: LiveJob, worker: str) -> Change:
    """What gives a job to a worker, once it is written."""
    change = live.beginning({})
    if live.has_begun:
        return change
    event = live.event("Assigned", f"it runs on worker {worker}")
    columns = {**change.columns, "handle": at_queue(live.record.handle_data, worker)}
    return Change(columns, [*change.events, event])
