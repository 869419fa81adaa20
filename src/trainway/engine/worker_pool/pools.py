"""The worker pools of one server: how many workers each has, and which of them are free.

A worker is a cluster that the setup of its pool has run on. All that a pool wants is stored first.
A server that is killed finds its workers again: as clusters they go on without it.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from weakref import WeakKeyDictionary

from trainway.counting import counted
from trainway.engine.cluster import shape as cluster_shape
from trainway.engine.cluster.clusters import Clusters
from trainway.engine.ids import Ids
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.moving.move import BETWEEN, move_of
from trainway.engine.phases import WAITING
from trainway.engine.queue import Waiting
from trainway.engine.rental.interruption import Interruption
from trainway.engine.rounds import Rounds
from trainway.engine.schedule.record import stored_submission
from trainway.engine.submission import Prepared
from trainway.engine.times import time_text
from trainway.engine.under_way import is_under_way
from trainway.engine.worker_pool.assignment import FreeWorkers, is_for_workers, left_on, worker_of
from trainway.engine.worker_pool.book import WorkerPoolBook
from trainway.engine.worker_pool.deadline_pools import may_be_at
from trainway.engine.worker_pool.job_pool import NO_MACHINES
from trainway.engine.worker_pool.record import WorkerPoolRecord, WorkerRecord
from trainway.engine.worker_pool.request import NewPool, check_task, checked_name, refuse_going
from trainway.engine.worker_pool.size import Demand, look_again_s, wanted_workers
from trainway.engine.worker_pool.state import WorkerState
from trainway.engine.worker_pool.view import pool_message, pool_view, why_none
from trainway.engine.worker_pool.workers import Submits, WorkerContext, Workers
from trainway.errors import ConflictError
from trainway.jobset.labels import WORKER_POOL
from trainway.json_types import Json

log = logging.getLogger(__name__)

MOST_POOLS: Final = 100
_GOING: Final = "SHUTTING_DOWN"


@dataclass(frozen=True)
class PoolContext:
    """What worker pools need of the engine."""

    ledger: Ledger
    ids: Ids
    clock: Callable[[], datetime]
    live: LiveJobs
    """The jobs that are not over."""
    clusters: Clusters
    submits: Submits
    begin_anew: Callable[[LiveJob, str, Interruption | None], Awaitable[None]]
    cancel: Callable[[list[LiveJob]], Awaitable[None]]
    fail: Callable[[LiveJob, str, str], Awaitable[None]]
    """Ends a job that has not begun, or has it go on elsewhere."""
    request: Callable[[], object]
    """Asks for a round of the queue."""
    waiting: Waiting
    """Who waits for nothing but a worker, by the last decision of the queue."""


class WorkerPools:
    """All worker pools."""

    def __init__(self, around: PoolContext) -> None:
        self._around = around
        self._book = WorkerPoolBook(around.ledger)
        self._workers = Workers(
            WorkerContext(
                *(around.ledger, around.clusters, around.submits),
                *(self._jobs_on, around.begin_anew, self._worker_stepped),
            ),
            self._book,
        )
        self._rounds = Rounds(self._play)
        self._pen = asyncio.Lock()
        self._idle_since: dict[str, float] = {}
        """When each worker without a job was first seen so, by id, on the clock of the loop."""
        self._short_since: WeakKeyDictionary[LiveJob, float] = WeakKeyDictionary()
        """When each job was first seen to wait for a worker alone, on the same clock."""
        self._timer: asyncio.TimerHandle | None = None
        self._held: set[str] = set()
        """The pools whose jobs are about to be stored: they do not go yet."""

    @property
    def is_idle(self) -> bool:
        """Whether there are none: a pool has to be looked after, and is to be ready."""
        return not self._book.pools

    async def start(self) -> None:
        """Go on with what a former server has left."""
        await self._book.settle()
        for pool in self._book.pools.values():
            await self._keep(pool)
        self.look()

    async def close(self) -> None:
        """Leave all of them to the next server."""
        if self._timer is not None:
            self._timer.cancel()
        await self._rounds.close()
        await self._workers.close()

    def look(self) -> None:
        """See what is to be done; called whenever a job or a cluster has changed."""
        if self._book.pools:
            self._rounds.request()

    def free(self, backend: str) -> FreeWorkers:
        """The workers of a pool that have no job, those first that were made first."""
        name = backend.partition("/")[2]
        pool = self._book.pools.get(name)
        if pool is None:
            return FreeWorkers((), f"there is no worker pool {name}")
        workers, used = self._book.workers(name), self._used()
        left = left_on(self._around.live.left)
        found = [
            worker
            for worker in workers
            if worker.state == WorkerState.READY
            and worker.name not in left
            and not any(is_under_way(live.record) for live in used.get(worker.name, ()))
        ]
        new = [worker.name for worker in found if worker.version == pool.version]
        old = [worker.name for worker in found if worker.version != pool.version]
        clusters = {worker.name: self._workers.cluster(worker) for worker in workers}
        return FreeWorkers(new, why_none(pool, workers, clusters), old)

    async def apply(self, new: NewPool, *, dry_run: bool = False) -> Json:
        """Make a worker pool, or change the one of that name."""
        name, size = checked_name(new.name), new.size()
        check_task(new.submission)
        planned = await self._around.clusters.planned(new.launch)
        async with self._pen:
            await self._book.settle()
            before = self._book.pools.get(name)
            if before is not None:
                refuse_going(before)
            elif len(self._book.pools) >= MOST_POOLS:
                raise ConflictError(f"a server has {MOST_POOLS} worker pools at most")
            digest, version = new.digest(planned.infra), 1
            if before is not None:
                version = before.version + (before.digest != digest)
            pool = WorkerPoolRecord(
                name=name,
                id=before.id if before else self._around.ids.new(),
                infra=planned.infra,
                agent=planned.pool,
                nodes=planned.nodes,
                resources=json.dumps(dict(new.resources)),
                options=json.dumps(dict(new.slurm)),
                size=json.dumps(size.to_dict()),
                version=version,
                digest=digest,
                last_number=before.last_number if before else 0,
                created=before.created if before else time_text(self._around.clock()),
            )
            if dry_run:
                return pool_view(pool, [], {}, {}, 0)
            await self._book.put(pool, stored_submission(new.submission))
            await self._keep(pool)
        await self._rounds.request()
        return self._view(pool.name)

    def hold(self, name: str) -> None:
        """Keep a pool that goes with its jobs until these are stored."""
        self._held.add(name)

    def settle(self, name: str) -> None:
        """The jobs of a pool that goes with them are stored now, if they ever are."""
        self._held.discard(name)
        self.look()

    async def resize(self, name: str, workers: int) -> Json:
        """Have a pool have so many workers from now on."""
        async with self._pen:
            pool = self._book.pool(name)
            refuse_going(pool)
            size = replace(pool.limits, least=workers, most=workers)
            resized = pool.changed(size=json.dumps(size.to_dict()), failures=0)
            await self._book.put(resized, await self._book.submission(name))
        await self._rounds.request()
        return self._view(name)

    async def labelled(self, prepared: Prepared, backend: str) -> Prepared:
        """A new job with the labels that its backend wants on it."""
        if not is_for_workers(backend):
            return await self._around.clusters.labelled(prepared, backend)
        pool = self._book.pool(backend.partition("/")[2])
        refuse_going(pool)
        return replace(prepared, labels={**prepared.labels, WORKER_POOL: pool.name})

    async def _keep(self, pool: WorkerPoolRecord) -> None:
        """Have the backend of its jobs know it."""
        data = {
            "name": pool.name,
            "id": pool.id,
            "infra": pool.infra,
            "pool": pool.agent,
            "nodes": pool.nodes,
            "amounts": cluster_shape.read(pool.nodes, pool.resource_data).shape.amounts(),
            "state": _GOING if pool.is_going else "UP",
            "title": f"a worker of the worker pool {pool.name}",
        }
        await asyncio.to_thread(self._around.clusters.agents.keep_pool, data)

    def all(self) -> list[Json]:
        """All of them, by name."""
        return [self._view(name) for name in sorted(self._book.pools)]

    def get(self, name: str) -> Json:
        """One of them."""
        return self._view(self._book.pool(name).name)

    async def down(self, name: str, *, cancel_jobs: bool = False) -> Json:
        """Release all workers and forget the pool; its jobs have to be over, or are cancelled."""
        async with self._pen:
            pool = self._book.pool(name)
            jobs = self._around.live.records_at(pool.backend)
            if jobs and not cancel_jobs:
                raise ConflictError(
                    f"the worker pool {name} has {counted(len(jobs), 'job')} that "
                    f"{'has' if len(jobs) == 1 else 'have'} not ended, such as "
                    f"{jobs[0].name} ({jobs[0].id})",
                    hint="wait for them, or cancel them with --cancel-jobs",
                )
            view = self._view(name)
            await self._book.going(name)
            await self._keep(self._book.pools[name])
            await self._around.cancel(self._jobs_of(pool))
        self.look()
        view["status"]["phase"] = _GOING
        return view

    def _view(self, name: str) -> Json:
        pool = self._book.pools[name]
        workers = self._book.workers(name)
        clusters = {worker.name: self._workers.cluster(worker) for worker in workers}
        jobs = self._jobs_of(pool)
        used_by = {worker_of(live.record): live.id for live in jobs}
        waiting = sum(not worker_of(live.record) for live in jobs)
        return pool_view(pool, workers, clusters, used_by, waiting)

    def _jobs_of(self, pool: WorkerPoolRecord) -> list[LiveJob]:
        return self._around.live.of_backend(pool.backend)

    def _is_used(self, pool: WorkerPoolRecord) -> bool:
        live = self._around.live
        return any(may_be_at(record, pool.backend) for record in live.records())

    def _jobs_on(self, worker: str) -> list[LiveJob]:
        return self._used().get(worker, [])

    def _used(self) -> dict[str, list[LiveJob]]:
        """The jobs that have a worker, suspended ones too, by its name."""
        found: dict[str, list[LiveJob]] = {name: [] for name in left_on(self._around.live.left)}
        for live in self._around.live.values():
            worker = worker_of(live.record)
            if worker:
                found.setdefault(worker, []).append(live)
        return found

    def _worker_stepped(self) -> None:
        """A worker has come to another state: a job may have a place, or one more is needed."""
        self.look()
        self._around.request()

    async def _play(self) -> None:
        async with self._pen:
            await self._book.settle()
            pauses = [await self._sized(pool) for pool in list(self._book.pools.values())]
        self._workers.look()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = [pause for pause in pauses if pause is not None]
        if due:
            self._timer = asyncio.get_running_loop().call_later(max(min(due), 0.01), self.look)

    async def _sized(self, pool: WorkerPoolRecord) -> float | None:
        """Have as many workers as are wanted; when to look again, in seconds."""
        workers = self._book.workers(pool.name)
        if pool.is_going:
            await self._go(pool, workers)
            return None
        if pool.limits.goes_with_jobs and pool.name not in self._held and not self._is_used(pool):
            await self._book.going(pool.name)
            await self._keep(self._book.pools[pool.name])
            return 0.0
        if pool.limits.goes_with_jobs and pool.has_given_up:
            for live in self._jobs_of(pool):
                await self._around.fail(live, NO_MACHINES, pool_message(pool, workers))
        if not self._around.waiting.is_known:
            return None  # who looks again once it is
        used = self._used()
        there = [worker for worker in workers if worker.is_counted]
        ours = [worker for worker in there if worker.version == pool.version]
        for worker in there:  # those of before go when they have no job
            if worker.version != pool.version and worker.name not in used:
                await self._book.step(worker.id, WorkerState.SHUTTING_DOWN, "the pool has changed")
        await self._forget_failed(pool, workers)
        demand = self._demand(pool, ours, used)
        wanted = wanted_workers(pool.limits, demand)
        if wanted > demand.workers and not pool.has_given_up:
            await self._grow(pool, wanted - demand.workers)
        elif wanted < demand.workers:
            unused = [worker for worker in ours if worker.name not in used]
            await self._shrink(unused, demand.workers - wanted)
        return look_again_s(pool.limits, demand)

    def _demand(
        self, pool: WorkerPoolRecord, workers: list[WorkerRecord], used: Container[str]
    ) -> Demand:
        now = asyncio.get_running_loop().time()
        idle, busy = [], 0
        for worker in workers:
            if worker.name in used:
                busy += 1
                self._idle_since.pop(worker.id, None)
            elif worker.state != WorkerState.READY:
                idle.append(0.0)
            else:
                idle.append(now - self._idle_since.setdefault(worker.id, now))
        waits = [
            now - self._short_since.setdefault(live, now)
            for live in self._jobs_of(pool)
            if self._is_waiting(live)
        ]
        return Demand(waits, busy, idle)

    def _is_waiting(self, live: LiveJob) -> bool:
        """Whether a job would start if there was a worker, unless something happened meanwhile."""
        waits = not live.has_begun and live.record.phase in WAITING and not _is_between(live)
        return waits and self._around.waiting.is_short(live.id)

    async def _grow(self, pool: WorkerPoolRecord, count: int) -> None:
        made: list[WorkerRecord] = []
        number = pool.last_number
        while len(made) < count:
            number += 1
            name = f"{pool.name}-{number}"
            if self._around.clusters.find(name) is None:  # somebody may have launched one
                made.append(
                    WorkerRecord(
                        id=self._around.ids.new(),
                        pool=pool.name,
                        number=number,
                        name=name,
                        version=pool.version,
                        created=time_text(self._around.clock()),
                    )
                )
        await self._book.add(pool.changed(last_number=number), made)

    async def _shrink(self, unused: list[WorkerRecord], count: int) -> None:
        """Release those that have been idle longest."""
        now = asyncio.get_running_loop().time()
        for worker in sorted(unused, key=lambda each: self._idle_since.get(each.id, now))[:count]:
            self._idle_since.pop(worker.id, None)
            await self._book.step(worker.id, WorkerState.SHUTTING_DOWN, "nobody needs it")

    async def _forget_failed(self, pool: WorkerPoolRecord, workers: list[WorkerRecord]) -> None:
        """Keep only the last one that failed, to say why, and none once others could be made."""
        failed = [worker for worker in workers if worker.state == WorkerState.FAILED]
        kept_ones = 1 if pool.failures else 0
        for worker in failed[: len(failed) - kept_ones]:
            await self._book.step(worker.id, WorkerState.SHUTTING_DOWN)

    async def _go(self, pool: WorkerPoolRecord, workers: list[WorkerRecord]) -> None:
        """Take a pool down: first its jobs end, then its workers go, then it is forgotten."""
        jobs = self._jobs_of(pool)
        if jobs:  # also those that came at the last moment; each end has us look again
            await self._around.cancel(jobs)
            return
        why = "the worker pool is taken down"
        for worker in workers:
            if worker.state != WorkerState.SHUTTING_DOWN:
                await self._book.step(worker.id, WorkerState.SHUTTING_DOWN, why)
        if not workers:
            await asyncio.to_thread(self._around.clusters.agents.forget_pool, pool.name)
            await self._book.forget(pool.name)


def _is_between(live: LiveJob) -> bool:
    """Whether no place has the job, because it moves."""
    move = move_of(live.record)
    return move is not None and move.step in BETWEEN
