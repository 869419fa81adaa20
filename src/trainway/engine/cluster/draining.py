"""Ends the jobs on spot machines of a cluster that their cloud takes back, before these go.

Each job gets SIGTERM and its grace period, and says in the end who took its machine. Machines that
go take no more jobs. What is decided follows from the ledger of rentals and the records of the
jobs, so it may be done again: by the next server too. A worker of a worker pool has its jobs go on
elsewhere (`worker_pool/workers.py`).
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from trainway.engine.cluster.agents import host_name
from trainway.engine.cluster.book import ClusterBook
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.live import LiveJob
from trainway.engine.moving.recovered_job import RecoveredJob
from trainway.engine.observation import NODES
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.recovery.cause import Cause
from trainway.engine.rental.interruption import Interruption, interruption
from trainway.engine.rental.record import Rental
from trainway.engine.stored_job import Change
from trainway.engine.wishes import ENDING, LOST
from trainway.errors import TrainwayError

log = logging.getLogger(__name__)

_BY: Final = "its cloud"
_OVER: Final = ("Succeeded", "Failed")


def taken_hosts(rental: Rental) -> Mapping[str, Interruption]:
    """The hosts of a cluster that are taken back, and what is known of each."""
    found = {}
    for machine in rental.machines:
        taken = interruption(replace(rental, machines=(machine,)))
        if taken is not None:
            found[host_name(rental.cluster, machine.rank)] = taken
    return found


def host_of(record: JobRecord, hosts: Collection[str], *, is_all: bool) -> str:
    """Which of the hosts that are taken a job loses; empty: none.

    `is_all`: these are all that its cluster has, so one that waits there loses them too.
    """
    nodes = (record.observed_data.get(NODES) or {}).values()
    used = [str(each.get("host")) for each in nodes if each.get("phase") not in _OVER]
    lost = [host for host in hosts if host in used]
    return next(iter(lost or (hosts if is_all else ())), "")


def preempted(live: LiveJob, taken: Interruption) -> Change | None:
    """It ends, since its machine is taken, and goes on elsewhere if it may.

    None: it ends already, or moves.
    """
    record = live.record
    if not live.has_begun or record.is_over or record.wanted in ENDING or record.move:
        return None
    if isinstance(live, RecoveredJob) and (change := live.taken_elsewhere(taken)) is not None:
        return change
    reason, words = str(Cause.PREEMPTED), taken.words
    columns = {"wanted": LOST, "phase": Phase.STOPPING, "reason": reason, "message": words}
    return Change(columns, [live.event(reason, words, kind="Warning")])


class Draining:
    """Drains the clusters of one server that somebody has launched."""

    def __init__(self, book: ClusterBook, jobs: Callable[[str], Sequence[LiveJob]]) -> None:
        self._book = book
        self._jobs = jobs

    async def drain(self, record: ClusterRecord, rental: Rental) -> None:
        """Have all jobs end that are on machines which are taken, if there are any."""
        hosts = {} if record.worker_pool else taken_hosts(rental)
        if not hosts:
            return
        for name, taken in hosts.items():  # first, lest others begin there
            await self._set_aside(record, name, taken)
        is_all = len(hosts) == len(rental.machines)
        for live in self._jobs(record.backend):
            host = host_of(live.record, hosts, is_all=is_all)
            if host:
                await live.insist(partial(preempted, live, hosts[host]))

    async def _set_aside(self, record: ClusterRecord, host: str, taken: Interruption) -> None:
        terms = {"host": host, "why": taken.words, "by": _BY}
        try:
            await self._book.agents.ask(record.pool, "drain", record.name, **terms)
        except TrainwayError as error:
            log.warning("cluster %s: %s may still get jobs: %s", record.name, host, error)
