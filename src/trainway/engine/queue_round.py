"""A round of the queue: one decision about all jobs that wait, over all places, and what follows.

The decision is that of the managed queue (`queueing/decision.py`), by the one rule for all queues.
Here the snapshot for it is made of the records as they are stored, and what it says becomes changes
of records: who starts with which devices, what the others are told, and who makes room. All of it
is one write, so a server that is killed has done all of it or nothing.

A decision is made in one go, and nobody is held up for it. The pens of those for whom it changes
something are taken afterwards, and what was decided by a record that is another one by then is left
to the next round.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Final, Self

from trainway.agent.controllers import gang_queue
from trainway.agent.controllers.gang_queue import Decisions
from trainway.backends import capabilities
from trainway.backends.base import Backend, Capacity
from trainway.backends.registry import Registry
from trainway.engine.cluster.clusters import Clusters
from trainway.engine.cluster.shares import Group
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.queue import (
    Decision,
    Holding,
    MachineRoom,
    QueuedGang,
    Waiting,
    decide,
    unheld,
)
from trainway.engine.queue_entry import told_to_wait
from trainway.engine.queues.gangs import amounts_of, lacking_nodes, owed_to, waiting_gang
from trainway.engine.queues.machine_words import MachineWords
from trainway.engine.queues.months import next_month
from trainway.engine.queues.places import EnginePlaces, Machine, Place
from trainway.engine.queues.queues import Queues
from trainway.engine.queues.resizing import can_resize
from trainway.engine.queues.room_changes import growing, told_to_leave
from trainway.engine.queues.running_book import RunningBook
from trainway.engine.record import JobRecord
from trainway.engine.run.holds import RunHolds
from trainway.engine.stored_job import Change, write
from trainway.engine.under_way import is_under_way
from trainway.engine.wishes import RESUME
from trainway.engine.worker_pool.assignment import (
    FreeWorkers,
    WorkerPlace,
    beginning_on,
    given_worker,
    is_for_workers,
    worker_of,
    worker_request,
)
from trainway.families.builtin import HERE
from trainway.queueing.amounts import is_type
from trainway.queueing.decision import QUEUED, SPENT, ManagedPolicy, positions
from trainway.queueing.growing import Lack
from trainway.queueing.snapshot import RunningGang, Snapshot, WaitingGang

_LONGEST_S: Final = 3600.0
"""The longest pause before a clock is looked at again that may have been put."""

Changes = list[tuple[LiveJob, Change]]
Preempted = list[tuple[RunningGang, WaitingGang]]
"""Who has to make room, and for whom."""


@dataclass(frozen=True)
class RoundContext:
    """What a round needs of the engine."""

    ledger: Ledger
    clock: Callable[[], datetime]
    live: LiveJobs
    """The jobs that are not over."""
    registry: Registry
    clusters: Clusters
    queues: Queues
    waiting: Waiting
    """Where it is kept for those who ask who waits, and for what."""
    holds: RunHolds
    request: Callable[[], object]
    """Asks for another round."""
    workers: Callable[[str], FreeWorkers]
    """The workers of a worker pool, by the backend of its jobs, that have no job."""


@dataclass
class _Draft:
    """Who waits for what, on its way to a decision."""

    gangs: list[WaitingGang] = field(default_factory=list)
    careless: set[str] = field(default_factory=set)
    """Those who start even if they do not fit."""
    jobs: dict[str, LiveJob] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    """By the id of their first job, which stands for all of them."""
    machines: dict[str, Backend] = field(default_factory=dict)
    pools: set[str] = field(default_factory=set)
    """The worker pools that jobs wait for."""
    lacks: list[Lack] = field(default_factory=list)
    """The nodes that elastic jobs would take which run with fewer."""

    def queued(self, job_id: str) -> QueuedGang:
        """Somebody who waits for a machine, as that sees it."""
        group = self.groups.get(job_id)
        return self.jobs[job_id].gang if group is None else group.gang


@dataclass(frozen=True)
class _Outcome:
    """What a round comes to."""

    changes: Changes
    preempted: Preempted = field(default_factory=list)
    growths: Mapping[str, int] = field(default_factory=dict)
    """How many nodes elastic jobs get back."""

    @property
    def count(self) -> int:
        """How many changes all of it is."""
        return len(self.changes) + len(self.preempted) + len(self.growths)


class Pens:
    """The pens of many jobs, held until all is written."""

    def __init__(self) -> None:
        self._held: list[asyncio.Lock] = []

    async def take(self, lives: Iterable[LiveJob]) -> None:
        """Hold the pens of jobs, and see their records as they are stored; always in one order."""
        for live in sorted(lives, key=attrgetter("id")):
            await live.pen.acquire()
            self._held.append(live.pen)
            await live.refresh()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        for pen in self._held:
            pen.release()


class QueueRound:
    """Plays rounds."""

    def __init__(self, around: RoundContext) -> None:
        self._around = around
        self._timer: asyncio.TimerHandle | None = None
        self._running = RunningBook(around.live, around.clock().timestamp(), self._is_setup)
        self._gangs: dict[str, tuple[JobRecord, int, WaitingGang]] = {}
        """Those who waited in the last round, with what each was made from."""

    def close(self) -> None:
        """Look at no clock any more."""
        if self._timer is not None:
            self._timer.cancel()

    async def play(self) -> None:
        """Start what fits, and tell the others why they wait; all of it is one write.

        If a loss of power takes it back, the next round decides the same again. That a job makes
        room is not taken back, since its agent may know of it by then.
        """
        await self._read_doubtful()
        await self._around.holds.refresh(self._around.live)
        await self._begin_clusters()
        await self._carry_out(self._decided())

    async def _read_doubtful(self) -> None:
        """See those who wait as they are stored."""
        for live in [live for live in self._around.live.waiting if live.is_doubtful]:
            async with live.pen:
                await live.refresh()

    def free(self, backend: Backend, capacity: Capacity) -> Capacity:
        """What no job of ours holds of what a backend has."""
        return unheld(capacity, self._holdings(backend))

    def _decided(self) -> "_Outcome":
        """What is to become of jobs that wait, who has to make room for whom, and who grows."""
        around = self._around
        waiting = [live for live in around.live.waiting if not live.over.is_set()]
        held, changes = around.holds.judged(waiting, around.live)
        self._running.update(around.queues.policies)
        draft = self._draft([live for live in waiting if live.id not in held])
        if not draft.gangs and not draft.lacks:
            around.waiting.clear()
            return _Outcome(changes)
        decisions, growths = self._decision(draft)
        around.waiting.put(positions(decisions))
        self._look_again(decisions)
        return _Outcome(changes + self._changes(draft, decisions), decisions.preempted, growths)

    async def _carry_out(self, outcome: "_Outcome") -> None:
        """Write what was decided, where nothing has happened meanwhile."""
        around, changes = self._around, outcome.changes
        ids = {gang.id for pair in outcome.preempted for gang in pair} | outcome.growths.keys()
        concerned = {id_: live for id_ in ids if (live := around.live.get(id_)) is not None}
        concerned |= {live.id: live for live, _ in changes}
        seen = {id_: live.record for id_, live in concerned.items()}
        async with Pens() as pens:
            await pens.take(concerned.values())
            same = {id_ for id_, live in concerned.items() if _is_same(live, seen[id_])}
            writes = [(live, change) for live, change in changes if live.id in same]
            room = self._leaving(outcome.preempted, same)
            room += self._growing(outcome.growths, same)
            if len(writes) + len(room) < outcome.count:
                around.request()  # something else is true of some of them now
            if writes or room:
                await write(around.ledger, writes + room, is_durable=bool(room))

    def _draft(self, waiting: Sequence[LiveJob]) -> _Draft:
        around, draft = self._around, _Draft()
        if len(self._gangs) > 2 * len(waiting):
            self._gangs = {
                live.id: known for live in waiting if (known := self._gangs.get(live.id))
            }
        shares = around.clusters.shares
        making_room = around.live.making_room
        owed = owed_to(live.record for live in making_room)
        for_shares = []
        for live in waiting:
            if not live.backend.schedules:
                draft.machines[live.backend.name] = live.backend
            elif live.has_begun and live.record.wanted != RESUME:
                continue  # it waits there
            elif shares.waits(live):
                for_shares.append(live)
                continue
            draft.jobs[live.id] = live
            gang = self._gang(live, owed)
            if is_for_workers(gang.lane):
                draft.pools.add(gang.lane)
                request = worker_request(live.record.demand, live.record.devices)
                gang = replace(gang, request=request)
            draft.gangs.append(gang)
            if live.record.oversubscribe:
                draft.careless.add(live.id)
        for group in shares.groups(for_shares):
            draft.machines[HERE] = around.registry.get(HERE)
            draft.groups[group.first.id] = group
            queued = group.gang
            if queued.oversubscribe:
                draft.careless.add(queued.id)
            draft.jobs |= {live.id: live for live in group.jobs}
            request = amounts_of(queued.demand, queued.pinned)
            gang = replace(self._gang(group.first, owed), lane=HERE, request=request)
            draft.gangs.append(replace(gang, name=queued.name))
        for live in making_room:
            if live.record.node_limit and can_resize(live.record, live.backend):
                self._note_lack(live, draft)
        return draft

    def _note_lack(self, live: LiveJob, draft: _Draft) -> None:
        """Note the nodes that a job has given up, once they are gone."""
        nodes, gangs = lacking_nodes(live.record), self._running.of_job(live.id)
        if nodes and len(gangs) == 1:
            draft.lacks.append(Lack(gangs[0], nodes))
            if not live.backend.schedules:
                draft.machines[live.backend.name] = live.backend

    def _gang(self, live: LiveJob, owed: Mapping[str, str]) -> WaitingGang:
        """The job as one that waits; made anew only where something about it has changed."""
        record, grace = live.record, self._grace(live.record.queue)
        known = self._gangs.get(record.id)
        if known is None or known[0] is not record or known[1] != grace:
            lane = live.backend.name
            gang = waiting_gang(record, lane, grace, is_setup=self._is_setup(lane))
            self._gangs[record.id] = known = (record, grace, gang)
        time = owed.get(record.id)
        return known[2] if time is None else replace(known[2], owed=time)

    def _is_setup(self, backend: str) -> bool:
        return self._around.clusters.shares.is_setup(backend)

    def _grace(self, queue: str) -> int:
        policy = self._around.queues.policies.get(queue)
        return 0 if policy is None else policy.grace_s

    def _decision(self, draft: _Draft) -> tuple[Decisions, Mapping[str, int]]:
        """The decision about a snapshot of everything, and how many nodes jobs get back."""
        around, promised = self._around, self._around.clusters.shares.promised()
        requests = {id(gang.request): gang.request for gang in draft.gangs}
        types = {name for request in requests.values() for name in request if is_type(name)}
        machines: dict[str, Place] = {name: self._workers(name, draft) for name in draft.pools}
        for name, backend in draft.machines.items():
            capacity = capabilities.capacity(backend)
            room = MachineRoom(capacity, self._holdings(backend), promised)
            machines[name] = Machine(room, capacity, types)
        places = EnginePlaces(machines, draft.queued, draft.careless)
        now, running = around.clock().timestamp(), self._running
        snapshot = Snapshot(
            draft.gangs,
            running.gangs,
            around.queues.policies,
            {},
            int(now),
            around.queues.book.used(now, running.use),
            running.tally,
        )
        policy = ManagedPolicy(snapshot, places, MachineWords())
        decisions = gang_queue.decide(draft.gangs, places, policy)
        growths = policy.growths(draft.lacks, decisions) if draft.lacks else {}
        around.waiting.note_short(policy.short_of_room(decisions, draft.pools))
        return decisions, growths

    def _workers(self, lane: str, draft: _Draft) -> WorkerPlace:
        """The workers of a pool that are free."""
        free = self._around.workers(lane)
        bound = {job_id: worker_of(live.record) for job_id, live in draft.jobs.items()}
        names = {name for gang in draft.gangs if gang.lane == lane for name in gang.request}
        return WorkerPlace(free, bound, names)

    def _changes(self, draft: _Draft, decisions: Decisions) -> Changes:
        changes: Changes = []
        for gang, devices in decisions.start:
            group = draft.groups.get(gang.id)
            if group is None:
                live, worker = draft.jobs[gang.id], given_worker(devices)
                begun = beginning_on(live, worker) if worker else live.beginning(devices)
                changes.append((live, begun))
            else:
                self._around.clusters.wake(group.cluster.name)
                changes += [(live, live.beginning({})) for live in group.jobs]
        decision = Decision(
            waiting={gang.id: message for gang, _, message in decisions.waiting},
            inadmissible={gang.id: message for gang, _, message in decisions.refused},
        )
        waits = dict(decision.waiting)
        for group in draft.groups.values():
            waits |= group.told(decision)
        reasons = {gang.id: reason for gang, reason, _ in decisions.waiting if reason != QUEUED}
        records = {job_id: live.record for job_id, live in draft.jobs.items()}
        told = told_to_wait(records, waits, decision.inadmissible, reasons)
        return changes + [(draft.jobs[job_id], change) for job_id, change in told]

    def _leaving(self, preempted: Preempted, same: set[str]) -> Changes:
        """What tells jobs to make room: all that are needed for one that waits, or none."""
        around = self._around
        by_gang: dict[str, tuple[WaitingGang, list[RunningGang]]] = {}
        for victim, gang in preempted:
            by_gang.setdefault(gang.id, (gang, []))[1].append(victim)
        changes: Changes = []
        for gang, victims in by_gang.values():
            found = [live for victim in victims if (live := around.live.get(victim.id))]
            is_whole = len(found) == len(victims) and all(map(_may_leave, found))
            if gang.id not in same or not is_whole:
                continue
            for live, victim in zip(found, victims, strict=True):
                eviction = around.queues.policies[live.record.queue].eviction
                changes.append((live, told_to_leave(live, victim, gang, eviction, around.clock())))
        return changes

    def _growing(self, growths: Mapping[str, int], same: set[str]) -> Changes:
        """What gives jobs back nodes that they gave up."""
        lives = {id_: self._around.live[id_] for id_ in growths if id_ in same}
        return [(live, growing(live, growths[id_])) for id_, live in lives.items()]

    def _look_again(self, decisions: Decisions) -> None:
        """Play another round when a new month brings new GPU-hours."""
        self.close()
        if not any(reason == SPENT for _, reason, _ in decisions.waiting):
            return
        now = self._around.clock().timestamp()
        pause = min(next_month(now) - now, _LONGEST_S)
        self._timer = asyncio.get_running_loop().call_later(pause, self._around.request)

    async def _begin_clusters(self) -> None:
        """Give clusters of this machine their nodes, which hold nothing until a job runs."""
        clusters = self._around.clusters
        gangs = clusters.gangs()
        if gangs:
            backend = self._around.registry.get(HERE)
            held, promised = self._holdings(backend), clusters.shares.promised()
            await clusters.decided(decide(gangs, held, capabilities.capacity(backend), promised))

    def _holdings(self, backend: Backend) -> list[Holding]:
        clusters = self._around.clusters.shares.holdings() if backend.name == HERE else []
        return [*self._around.live.held(backend), *clusters]


def _is_same(live: LiveJob, seen: JobRecord) -> bool:
    """Whether a job is as it was when something was decided about it."""
    return live.record is seen and not live.over.is_set()


def _may_leave(live: LiveJob) -> bool:
    """Whether a job can still be told to make room."""
    return is_under_way(live.record) and not live.over.is_set() and live.record.wanted == ""
