"""The engine: takes jobs in, starts them when they fit, and does what their owners want.

It holds no state that is not in the store or with a backend, so it may be killed at any moment. The
next one adopts what it finds: jobs that run are watched again, those that waited wait again, and
one that was about to start is started, once.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from trainway.backends import capabilities
from trainway.backends.base import Backend, Capacity, Request
from trainway.backends.registry import Registry
from trainway.engine import wishing
from trainway.engine.admission import Admission
from trainway.engine.adoption import Adoption
from trainway.engine.agent_starts import USUAL, StartPolicy
from trainway.engine.cancellation import cancel_all
from trainway.engine.cluster.clusters import Clusters
from trainway.engine.cluster.context import ClusterContext
from trainway.engine.cluster.spending import Spending
from trainway.engine.costs.account import charged, single
from trainway.engine.costs.costs import Costs
from trainway.engine.deletion import Deletion
from trainway.engine.export.exporter import Exporter
from trainway.engine.idempotency import identified
from trainway.engine.ids import Ids
from trainway.engine.intake import Intake, NewJob, elements, prepare, run_of
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveContext, LiveJob
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.metrics.reading import MetricReading
from trainway.engine.metrics.recorder import Recorder
from trainway.engine.moving.choosing import Choosing, ChoosingContext
from trainway.engine.moving.move import Candidate
from trainway.engine.moving.moves import Moves
from trainway.engine.moving.resubmitted import resubmitted
from trainway.engine.notify.notifier import NOBODY, Notifier, Notifying
from trainway.engine.phases import ACTIVE, Phase
from trainway.engine.placement.offer import Offer
from trainway.engine.placement.survey import offers
from trainway.engine.queue import Waiting
from trainway.engine.queue_round import QueueRound, RoundContext
from trainway.engine.queues.making_room import has_left
from trainway.engine.queues.queues import Queues
from trainway.engine.queues.setting import JobSetting
from trainway.engine.reading import Reading
from trainway.engine.record import Event, JobRecord
from trainway.engine.remarks import Remarks
from trainway.engine.rental.office import RentalOffice
from trainway.engine.retention import Retention
from trainway.engine.rounds import Rounds
from trainway.engine.run.holds import RunHolds
from trainway.engine.run.runs import RunContext, Runs
from trainway.engine.scaling import Scaling
from trainway.engine.schedule.context import ScheduleContext
from trainway.engine.schedule.schedules import Schedules
from trainway.engine.stacks.taking import Stacks
from trainway.engine.statistics.jobs import JobStatistics
from trainway.engine.storage.book import StorageBook
from trainway.engine.store import Store
from trainway.engine.strays import strays
from trainway.engine.submission import Amend, Prepared, Submission, unchanged, with_job
from trainway.engine.times import time_text
from trainway.engine.worker_pool.housing import Housing, described
from trainway.engine.worker_pool.pools import PoolContext, WorkerPools
from trainway.errors import ConflictError
from trainway.families.builtin import HERE
from trainway.json_types import Json

log = logging.getLogger(__name__)


class Engine:
    """All jobs of one server."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        starts: StartPolicy = USUAL,
        notifying: Notifying = NOBODY,
        prices: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self._store = store
        self._ledger = Ledger(store)
        self.recorder = Recorder(self._ledger)
        self._clock = clock
        self._ids = Ids(clock)
        self._live = LiveJobs()
        self._ledger.observers.append(self._live)
        self._waiting = Waiting()
        self._holds = RunHolds(self._ledger, lambda live: self._choosing.ready(live))  # noqa: PLW0108 - made later
        self._rounds = Rounds(self._play_round)
        request = self._rounds.request
        self.storage = StorageBook(self._ledger, registry, clock, self._live)
        self.queues = Queues(self._ledger, clock, self._live, self._waiting, request)
        self.notifier = Notifier(self._ledger, clock, notifying)
        self.exporter = Exporter(self._ledger, registry, clock)
        self._around = LiveContext(
            *(self._ledger, clock, self._on_phase, self._on_gone),
            *(prepare, self.recorder, starts, self.notifier.notices),
        )
        self.statistics = JobStatistics(self._ledger, self._live, clock)
        self._retention = Retention(self._ledger, registry, clock)
        self.registry = registry
        self.reading = Reading(self._ledger, registry, self._waiting, clock, self.recorder.flush)
        self._deletion = Deletion(
            *(self.reading, registry, self._live, self._retention, self._forgotten, self._on_gone)
        )
        self.metrics = MetricReading(self._ledger, self.recorder, self.reading)
        self.stacks = Stacks(self.reading, registry, clock, self._live)
        self.rental_office = RentalOffice(self._ledger, self._ids, clock, registry.home)
        self.clusters = Clusters(self._around_clusters(), registry.cluster_agents)
        self._round = QueueRound(
            RoundContext(
                *(self._ledger, clock, self._live, registry, self.clusters, self.queues),
                *(self._waiting, self._holds, request),
                lambda backend: self.worker_pools.free(backend),  # noqa: PLW0108 - made later
            )
        )
        check = self.notifier.check
        self.intake = Intake(self._ids, clock, self._labelled, check, self.queues.admitting)
        self._admission = Admission(
            self._around, registry, self.intake, self._take_up, self._rounds.request
        )
        self._cancel_all = partial(cancel_all, self._ledger)
        self.remarks = Remarks(self._ledger, self.reading, self._live)
        self.setting = JobSetting(self.reading, self._live, self.queues, request)
        self.scaling = Scaling(self._ledger, self.reading, self._live, self._rounds.request)
        self.moves = Moves(
            *(self._ledger, registry, self.reading, self._live, request, self.clusters.taken),
            lambda submission: self.housing.house(submission),  # noqa: PLW0108 - made later
        )
        self._prices = prices
        spending = Spending(self.clusters, lambda: self.worker_pools)
        self.costs = Costs(
            self._ledger, clock, self._live, prices, self.notifier.announced, spending
        )
        choosing = ChoosingContext(self._ledger, self.moves, self.offers, request, self._bring)
        self._choosing = Choosing(choosing)
        self.worker_pools = WorkerPools(
            PoolContext(
                *(self._ledger, self._ids, clock, self._live, self.clusters, self),
                *(self.moves.begin_anew, self._cancel_all, self.moves.fail, request, self._waiting),
            )
        )
        self.housing = Housing(
            *(self.worker_pools, self.clusters, registry, self._ids, self._admission.admit)
        )
        actions = (self._cancel_all, self.delete, self._again, self.housing.admit)
        self.runs = Runs(RunContext(self._ledger, self.reading, self._live, *actions, self.metrics))
        scheduling = (self._ledger, self._ids, clock, self._live, self, self._cancel_all)
        self.schedules = Schedules(ScheduleContext(*scheduling))

    def _around_clusters(self) -> ClusterContext:
        return ClusterContext(
            *(self._ledger, self._ids, self._clock),
            schedule=self._rounds.request,
            capacity=lambda: capabilities.capacity(self.registry.get(HERE)),
            jobs=self._live.of_backend,
            job_records=self._live.records_at,
            end=partial(cancel_all, self._ledger),
            worker_changed=self._look_at_workers,
            starts=self._around.starts,
            office=lambda: self.rental_office,
            admit=lambda labels: self.costs.budgets.admit(labels),  # noqa: PLW0108 - made later
        )

    def _look_at_workers(self) -> None:
        self.worker_pools.look()
        self._rounds.request()  # jobs are told what their workers wait for

    async def _labelled(self, prepared: Prepared, backend: str) -> Prepared:
        self.costs.budgets.admit(prepared.labels)
        return await self.worker_pools.labelled(prepared, backend)

    async def start(self) -> None:
        """Adopt every job that is not over, also one that the store has lost."""
        await self.queues.start()
        await self.storage.start()
        self._holds.add_all(await self._ledger.call(self._store.runs.limited))
        adoption = Adoption(self._ledger, self._live, self._add, self.moves.look, self._event)
        for record in await self._ledger.call(self._store.unfinished):
            await adoption.take_up(record)
        await self._adopt_strays()
        self._ids.follow(await self._ledger.call(self._store.newest_id))
        await self.rental_office.start()
        await self.clusters.start()
        await self.worker_pools.start()
        self._retention.start()
        await self.costs.start()
        self.notifier.start()
        await self.exporter.start()
        await self._rounds.request()
        await self.runs.searches.start()
        await self.schedules.start()

    async def _adopt_strays(self) -> None:
        """Take up jobs that their backend has and the store has lost."""
        now = time_text(self._clock())
        async for stray in strays(self.registry, self._store.ids, now):
            event = self._event(stray.record, "Adopted", "the job was found without a record of it")
            await self._ledger.call(self._store.add, stray.record, stray.spec, [event])
            await capabilities.adopt(stray.backend, stray.record.handle_data)
            self._add(stray.record).carry()

    def warm_up(self) -> None:
        """Load what the first job needs. Takes its time: call it in a thread."""
        import trainway.engine.preparation  # noqa: F401, PLC0415 - see `intake`

        capabilities.warm_up(self.registry.get(HERE))

    async def close(self) -> None:
        """Let go of all jobs; they run on."""
        self._retention.stop()
        await self.costs.close()
        await self.schedules.close()
        await self.runs.searches.close()
        self._round.close()
        await self.worker_pools.close()
        await self._rounds.close()
        await self.clusters.close()
        await self.rental_office.close()
        await self._admission.close()
        for live in list(self._live.values()):
            await live.detach()
        await self.exporter.close()
        await self.notifier.close()
        await self.registry.close()
        await self.recorder.close()
        await asyncio.to_thread(self._ledger.close)

    @property
    def is_idle(self) -> bool:
        """Whether nothing will happen unless someone asks."""
        is_active = any(live.record.phase in ACTIVE for live in self._live.values())
        parts = (self.notifier, self.runs, self.schedules, self.worker_pools, self.moves)
        is_quiet = all(part.is_idle for part in (*parts, self.exporter, self.rental_office))
        return is_quiet and not is_active and not self.clusters.gangs()

    def free(self, backend: Backend, capacity: Capacity) -> Capacity:
        """What no job of ours holds of what a backend has; asked by no other thread."""
        return self._round.free(backend, capacity)

    async def submit(self, submission: Submission) -> tuple[Json, list[str]]:
        """Take in a job, once for each key; the job, and what its owner should know."""
        async with self.housing.house(charged(single(identified(submission)))) as housed:
            admitted = await self._admission.admit([housed])
        objects = admitted.objects or await self.reading.objects(admitted.records[0].id)
        return self.reading.shown(admitted.records[0], objects), admitted.warnings

    async def submit_array(self, submission: Submission) -> tuple[list[Json], list[str]]:
        """Take in the jobs of a run, all or none; the jobs in short, and as above."""
        count = len(elements(submission))
        async with self.housing.house(charged(identified(submission)), count) as housed:
            jobs = elements(housed)
            admitted = await self.housing.admit(jobs, run_of(housed, jobs))
        return [self.reading.summary(record) for record in admitted.records], admitted.warnings

    async def plan(self, submission: Submission) -> tuple[Request, list[str]]:
        """What would be sent for a submission, and what its owner should know; nothing is."""
        backend = self.registry.get(submission.backend, submission.kubeconfig)
        jobs = elements(submission) if submission.is_run else [submission]
        is_array = submission.is_run and run_of(submission, jobs).is_array
        return await self.intake.plan(jobs[0], backend, len(jobs) if is_array else None)

    def places(self, kubeconfig: Iterable[str] = ()) -> list[str]:
        """Every place that may be chosen where nobody names one; it reads files."""
        return [*self.registry.infras(kubeconfig), *self.rental_office.places()]

    async def offers(self, submissions: Sequence[Submission]) -> list[Offer]:
        """What the places of submissions of one job offer for it, in their order."""
        return await offers(self, submissions, await asyncio.to_thread(self._prices))

    async def rentable(self, submission: Submission) -> tuple[float, str]:
        """What an hour of a machine costs that would be rented for a job, and which it is."""
        _, chosen = await self.housing.offer(submission)
        return float(chosen.hourly_price) / chosen.nodes, described(chosen)

    async def rerun(self, ref: str, amend: Amend = unchanged, key: str = "") -> Json:
        """Submit once more what a job was made from, maybe with a difference; once for a key."""
        return (await self.submit(await self.again(ref, amend, key)))[0]

    async def again(self, ref: str, amend: Amend = unchanged, key: str = "") -> Submission:
        """What `rerun` would submit."""
        return with_job(await self._again(await self.reading.record(ref), key), amend)

    async def _again(self, record: JobRecord, key: str = "") -> Submission:
        record = await self._ledger.call(self._store.get, record.id)  # it may be a summary
        spec = await self._ledger.call(self._store.spec, record.id)
        backend = self.registry.of(record.backend, record.handle_data)
        return resubmitted(record, spec, self._clock(), is_renamed=backend.schedules, key=key)

    async def cancel(self, ref: str) -> Json:
        """End a job; its processes get their grace period."""
        live, objects = await self._unfinished(ref, "cancelled")
        await live.alter(lambda: wishing.cancelling(live))
        return self.reading.shown(live.record, objects)

    async def suspend(self, ref: str) -> Json:
        """Stop a job's processes until it is resumed."""
        live, objects = await self._unfinished(ref, "suspended")
        await live.alter(lambda: wishing.suspending(live))
        self._rounds.request()
        return self.reading.shown(live.record, objects)

    async def resume(self, ref: str) -> Json:
        """Let a suspended job go on; it waits for its resources like any other."""
        live, objects = await self._unfinished(ref, "resumed")
        await live.alter(lambda: wishing.resuming(live))
        await self._rounds.request()
        return self.reading.shown(live.record, objects)

    async def delete(self, ref: str, *, force: bool = False) -> Json:
        """End a job if it runs, wait until all of it is gone, and forget it.

        One that cannot be reached is forgotten by force only; it then says what may be left of it.
        """
        return await self._deletion.delete(ref, force=force)

    def _forgotten(self, record: JobRecord) -> None:
        self._holds.look(record)
        self._rounds.request()

    async def report_progress(self, ref: str, status: Json) -> None:
        """Note how far a job is, for code that cannot reach its agent."""
        live = self._live.get(ref)  # by its id, which saves a question to the store
        if live is None:
            record = await self.reading.record(ref)
            if (live := self._live.get(record.id)) is None:
                raise ConflictError(f"{record.name} has already ended")
        await self.recorder.note_status(live.id, status, time_text(self._clock()))
        self.recorder.tell(live, {"progress": status})

    async def _unfinished(self, ref: str, verb: str) -> tuple[LiveJob, list[Json]]:
        """A job that is not over, and what it was made from, for the answer."""
        record, objects = await self.reading.whole(ref)
        if (live := self._live.get(record.id)) is None:
            raise wishing.is_over(record, verb)
        return live, objects

    def _add(self, record: JobRecord) -> LiveJob:
        backend = self.registry.of_stored(record.backend, record.handle_data)
        live = self.moves.job(record, backend, self._around)
        self._live.add(live)
        return live

    def _take_up(self, new: Sequence[NewJob]) -> list[LiveJob]:
        """Look after jobs that are stored."""
        self._holds.add(new[0].run)
        self.costs.budgets.took_up(new[0].run)
        lives = [self._add(job.record) for job in new]
        for live in lives:
            if live.has_begun:
                live.carry()
        return lives

    async def _bring(self, record: JobRecord, at: Candidate) -> Candidate:
        from trainway.engine.run.inputs import brought  # noqa: PLC0415 - it loads the compiler

        return await brought(self._ledger, self.registry, record, at)

    async def _play_round(self) -> None:
        await self._round.play()
        self.worker_pools.look()  # who waits now may need another worker

    def _on_phase(self, live: LiveJob) -> None:
        """A job came to another phase: others may fit now."""
        if live.record.is_over:
            self.queues.note_end(live.record)
            self._drop(live)
            self._retention.look_again()
        self.moves.look(live)
        self.worker_pools.look()
        is_less = live.record.phase == Phase.PAUSED or has_left(live.record)
        if live.record.is_over or is_less or live.record.node_limit:
            self._rounds.request()

    def _on_gone(self, live: LiveJob) -> None:
        """A job was forgotten."""
        self.statistics.gone(live.record)
        self._drop(live)
        self._rounds.request()

    def _drop(self, live: LiveJob) -> None:
        self.runs.searches.look()
        self._holds.look(live.record)
        if self._live.remove(live.id):
            capabilities.release(live.backend, int(live.record.handle_data["port"]))
            self.schedules.job_ended()

    def _event(self, record: JobRecord, reason: str, message: str) -> Event:
        return Event(time_text(self._clock()), "Normal", reason, message, f"job/{record.name}")
