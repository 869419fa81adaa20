"""Carries each worker through its life: each step is stored before it is made, and may be repeated.

A worker is a cluster. It is launched, the setup of its pool runs on it as a job, and then it takes
jobs until nobody needs it or it is lost.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from trainway.engine.background import Background
from trainway.engine.cluster.clusters import Clusters
from trainway.engine.cluster.record import ClusterRecord, State
from trainway.engine.cluster.request import Launch
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.rental.interruption import Interruption
from trainway.engine.schedule.record import read_submission
from trainway.engine.submission import JOB_TYPES, Submission, parted, type_of
from trainway.engine.worker_pool.book import WorkerPoolBook
from trainway.engine.worker_pool.job_pool import labels_of
from trainway.engine.worker_pool.record import WorkerPoolRecord, WorkerRecord
from trainway.engine.worker_pool.state import WorkerState
from trainway.errors import DatabaseError, NotFoundError, TrainwayError, UnavailableError
from trainway.families.builtin import HELD
from trainway.jobset.labels import WORKER_POOL
from trainway.json_types import Json

log = logging.getLogger(__name__)

_AGAIN_S: Final = 2.0
"""After so long it is tried again what could not be done."""


class Submits(Protocol):
    """Takes in the jobs that set workers up, as it takes in what anybody submits."""

    async def submit(self, submission: Submission) -> tuple[Json, list[str]]:
        """One job, once for its key."""
        ...


@dataclass(frozen=True)
class WorkerContext:
    """What workers need of the engine."""

    ledger: Ledger
    clusters: Clusters
    submits: Submits
    jobs_on: Callable[[str], Sequence[LiveJob]]
    """The jobs of a worker, by its name, that are not over."""
    begin_anew: Callable[[LiveJob, str, Interruption | None], Awaitable[None]]
    """Has a job wait for another worker; where a cloud takes its machines, it ends there first."""
    changed: Callable[[], object]
    """Called when a worker has come to another state."""


class Workers:
    """All workers of one server."""

    def __init__(self, around: WorkerContext, book: WorkerPoolBook) -> None:
        self._around = around
        self._book = book
        self._background = Background()
        self._under_way: set[str] = set()

    async def close(self) -> None:
        """Leave them to the next server."""
        await self._background.close()

    def look(self) -> None:
        """See what is to be done for each."""
        for name in list(self._book.pools):
            for worker in self._book.workers(name):
                if worker.id not in self._under_way:
                    self._under_way.add(worker.id)
                    self._background.spawn(self._carry(worker.id))

    async def _carry(self, worker_id: str) -> None:
        """Make all steps of a worker that can be made now."""
        try:
            while await self._step(worker_id):
                self._around.changed()
        except (DatabaseError, UnavailableError) as error:
            log.info("worker %s has to wait: %s", worker_id, error)
            self._later()
        except Exception:
            log.exception("worker %s has to wait", worker_id)
            self._later()
        finally:
            self._under_way.discard(worker_id)

    def _later(self) -> None:
        asyncio.get_running_loop().call_later(_AGAIN_S, self._around.changed)

    async def _step(self, worker_id: str) -> bool:
        """Make the next step; whether there is one more."""
        await self._book.settle()
        worker = self._book.worker(worker_id)
        pool = self._book.pools.get(worker.pool) if worker is not None else None
        if worker is None or pool is None:
            return False
        taken = self._interruption(worker) if worker.is_counted else None
        if taken is not None:
            log.warning("worker %s of the worker pool %s: %s", worker.name, pool.name, taken.words)
            await self._book.step(worker.id, WorkerState.SHUTTING_DOWN, taken.words)
            return True
        steps: dict[str, Callable[[WorkerPoolRecord, WorkerRecord], Awaitable[bool]]] = {
            WorkerState.STARTING: self._start,
            WorkerState.SETTING_UP: self._set_up,
            WorkerState.READY: self._watch,
            WorkerState.FAILED: self._give_back,
            WorkerState.SHUTTING_DOWN: self._shut_down,
        }
        return await steps[worker.state](pool, worker)

    async def _start(self, pool: WorkerPoolRecord, worker: WorkerRecord) -> bool:
        """Have its nodes."""
        cluster = self.cluster(worker)
        if cluster is None:
            submission = read_submission(await self._book.submission(pool.name))
            wanted = Launch(
                worker.name,
                pool.infra,
                pool.nodes,
                pool.resource_data,
                slurm=pool.option_data,
                retry_until_up=pool.limits.insists,
                worker_pool=pool.name,
                labels={**labels_of(parted(submission.objects)[0] or {}), **submission.labels},
            )
            try:
                await self._around.clusters.launch(wanted)
            except (DatabaseError, UnavailableError):
                raise
            except TrainwayError as error:
                await self._book.step(worker.id, WorkerState.FAILED, error.sentence)
            return True
        if cluster.state == State.STOPPED:
            said = f"it stopped before it was ready: {cluster.message}"
            await self._book.step(worker.id, WorkerState.FAILED, said)
            return True
        if cluster.state != State.UP:
            return False  # whoever hears of it looks again
        await self._book.step(worker.id, WorkerState.SETTING_UP)
        return True

    async def _set_up(self, pool: WorkerPoolRecord, worker: WorkerRecord) -> bool:
        """Run the setup on it, once."""
        why, is_taken = await self._lost(worker)
        if why:
            after = WorkerState.SHUTTING_DOWN if is_taken else WorkerState.FAILED
            await self._book.step(worker.id, after, why)
            return True
        key = f"worker-pool/{pool.id}/{worker.id}"
        job = await self._around.ledger.call(self._around.ledger.store.with_key, key)
        if job is None:
            try:
                await self._around.submits.submit(await self._setup(pool, worker, key))
            except (DatabaseError, UnavailableError):
                raise
            except TrainwayError as error:
                await self._book.step(worker.id, WorkerState.FAILED, error.sentence)
            return True
        await self._book.set_up_by(worker.id, job.id)
        if not job.is_over:
            return False
        if job.phase == Phase.SUCCEEDED:
            await self._book.step(worker.id, WorkerState.READY)
        else:
            await self._book.step(worker.id, WorkerState.FAILED, _failed_setup(job))
        return True

    async def _setup(self, pool: WorkerPoolRecord, worker: WorkerRecord, key: str) -> Submission:
        submission = read_submission(await self._book.submission(pool.name))
        return replace(
            submission,
            objects=[_for_worker(obj, worker.name) for obj in submission.objects],
            name=f"{worker.name}-setup",
            backend=f"{HELD}/{worker.name}",
            labels={**submission.labels, WORKER_POOL: pool.name},
            key=key,
            sets_up=True,
        )

    async def _watch(self, pool: WorkerPoolRecord, worker: WorkerRecord) -> bool:
        """See whether it is still there."""
        why, _ = await self._lost(worker)
        if not why:
            return False
        log.warning("worker %s of the worker pool %s is lost: %s", worker.name, pool.name, why)
        await self._book.step(worker.id, WorkerState.SHUTTING_DOWN, why)
        return True

    async def _lost(self, worker: WorkerRecord) -> tuple[str, bool]:
        """Why it cannot be used any more, and whether its cloud has taken it; empty: it can."""
        cluster = self.cluster(worker)
        why = lost(cluster)
        taken = await self._around.clusters.taken(worker.name) if why and cluster else None
        return (why, False) if taken is None else (taken.words, True)

    async def _give_back(self, _pool: WorkerPoolRecord, worker: WorkerRecord) -> bool:
        """Let one that could not be made hold nothing."""
        await self._release(worker)
        return False

    async def _shut_down(self, _pool: WorkerPoolRecord, worker: WorkerRecord) -> bool:
        """Have its jobs leave it, give back what it holds, and forget it."""
        left = self._around.jobs_on(worker.name)
        taken = self._interruption(worker)
        for live in left:
            verb = "is gone" if taken is None else "is being taken"
            why = f"its worker {worker.name} {verb}: {worker.message or 'it was released'}"
            await self._around.begin_anew(live, why, taken)
        if left:
            self._later()  # they are let go of before the worker is
            return False
        await self._release(worker)
        await self._book.forget_worker(worker.id)
        return True

    async def _release(self, worker: WorkerRecord) -> None:
        if self.cluster(worker) is not None:
            try:
                await self._around.clusters.release(worker.name, purge=True)
            except NotFoundError:
                log.info("worker %s was gone already", worker.name)

    def cluster(self, worker: WorkerRecord) -> ClusterRecord | None:
        """The cluster that a worker is; None: it has none, though somebody else may have its name.

        A worker that could not be made holds nothing, and keeps its name only to say why.
        """
        found = self._around.clusters.find(worker.name)
        return found if found is not None and found.worker_pool == worker.pool else None

    def _interruption(self, worker: WorkerRecord) -> Interruption | None:
        is_there = self.cluster(worker) is not None
        return self._around.clusters.interruption(worker.name) if is_there else None


def lost(cluster: ClusterRecord | None) -> str:
    """Why a worker cannot be used any more, by the cluster that it is; empty: it can."""
    if cluster is None:
        return "its cluster is gone"
    if cluster.state in (State.STOPPED, State.AUTOSTOPPING):
        return cluster.message or "its cluster has stopped"
    hosts = [str(node["host"]) for node in cluster.placed_data if node.get("lost")]
    return f"host {hosts[0]} was lost" if hosts else ""


def _failed_setup(job: JobRecord) -> str:
    why = job.message or job.reason or str(job.phase)
    return f"its setup failed: {why} (trainway jobs logs {job.id})"


def _for_worker(obj: Json, worker: str) -> Json:
    """An object of the setup, for one worker."""
    if type_of(obj) not in JOB_TYPES:
        return obj
    origin: dict[str, Any] = {**(obj.get("origin") or {}), "cluster": worker}
    return {**obj, "origin": origin}
