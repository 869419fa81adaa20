"""The engine: takes jobs in, starts them when they fit, and does what their owners want.

It holds no state that is not in the store or with a backend, so it may be killed at any moment. The
next one adopts what it finds: jobs that run are watched again, those that waited wait again, and
one that was about to start is started, once.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from trainway.backends.base import Absence, Backend, Capacity, Remote, Request
from trainway.backends.registry import Registry
from trainway.engine.agent_starts import USUAL, StartPolicy
from trainway.engine.cluster import clusters as clustering
from trainway.engine.cluster.clusters import Clusters
from trainway.engine.ids import Ids
from trainway.engine.intake import Intake, elements, prepare
from trainway.engine.ledger import Ledger
from trainway.engine.live import (
    BEGIN_SUSPENDED,
    CANCEL,
    RESUME,
    SUSPEND,
    LiveJob,
    Surroundings,
)
from trainway.engine.phases import ACTIVE, WAITING, Phase
from trainway.engine.queue import Holding, Waiting, assigned, decide, unheld
from trainway.engine.reading import Reading
from trainway.engine.record import Event, JobRecord
from trainway.engine.retention import Retention
from trainway.engine.store import Store
from trainway.engine.strays import strays
from trainway.engine.submission import Submission, suffixed
from trainway.engine.times import time_text
from trainway.errors import ConflictError, UnavailableError

Json = dict[str, Any]

log = logging.getLogger(__name__)

LOCAL: Final = "local"

ABANDONED: Final = "Abandoned"
"""The reason of a job that was forgotten while it could not be reached."""
FORCE_HINT: Final = "try again later, or forget the job here with: trainway jobs delete --force"


class Engine:
    """All jobs of one server."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        starts: StartPolicy = USUAL,
    ) -> None:
        self._store = store
        self._ledger = Ledger(store)
        self._clock = clock
        self._ids = Ids(clock)
        self._live: dict[str, LiveJob] = {}
        self._waiting = Waiting()
        self._around = Surroundings(self._ledger, clock, self._on_phase, prepare, starts)
        self._retention = Retention(self._ledger, registry, clock)
        self.registry = registry
        self.reading = Reading(self._ledger, registry, self._waiting)
        self.clusters = Clusters(self._around_clusters(), registry.cluster_agents)
        self._intake = Intake(self._ids, clock, self.clusters.labelled)

    def _around_clusters(self) -> clustering.Surroundings:
        return clustering.Surroundings(
            self._ledger,
            self._ids,
            self._clock,
            schedule=self._schedule,
            capacity=lambda: self.registry.get("local").capacity(),
            jobs=lambda name: [live for live in self._live.values() if live.record.backend == name],
            end=self._cancel,
            starts=self._around.starts,
        )

    async def start(self) -> None:
        """Adopt every job that is not over, also one that the store has lost."""
        for record in await self._ledger.call(self._store.unfinished):
            live = self._add(record)
            await live.backend.adopt(record.handle_data)
            if live.has_begun:
                live.adopt()
        await self._adopt_strays()
        await self.clusters.start()
        self._retention.start()
        self._schedule()

    async def _adopt_strays(self) -> None:
        """Take up jobs that their backend has and the store has lost."""
        now = time_text(self._clock())
        async for stray in strays(self.registry, self._store.ids, now):
            event = self._event(stray.record, "Adopted", "it was found without a record of it")
            await self._ledger.call(self._store.add, stray.record, stray.spec, [event])
            await stray.backend.adopt(stray.record.handle_data)
            self._add(stray.record).adopt()

    def warm_up(self) -> None:
        """Load what the first job needs. Takes its time: call it in a thread."""
        import trainway.engine.preparation  # noqa: F401, PLC0415 - see `intake`

        self.registry.get("local").warm_up()

    async def close(self) -> None:
        """Let go of all jobs; they run on."""
        self._retention.stop()
        await self.clusters.close()
        for live in list(self._live.values()):
            await live.detach()
        await self.registry.close()
        await asyncio.to_thread(self._ledger.close)

    @property
    def is_idle(self) -> bool:
        """Whether nothing will happen unless someone asks."""
        is_active = any(live.record.phase in ACTIVE for live in self._live.values())
        return not is_active and not self.clusters.gangs()

    def free(self, backend: Backend) -> Capacity:
        """What no job of ours holds."""
        return unheld(backend.capacity(), self._holdings(backend))

    async def submit(self, submission: Submission) -> tuple[Json, list[str]]:
        """Take in a job, once for each key; the job, and what its owner should know."""
        records, warnings = await self._taken([submission], is_array=False)
        return await self.reading.view(records[0]), warnings

    async def submit_array(self, submission: Submission) -> tuple[list[Json], list[str]]:
        """Take in the jobs of an array, all or none; the jobs in short, and as above."""
        records, warnings = await self._taken(elements(submission), is_array=True)
        return [self.reading.summary(record) for record in records], warnings

    async def _taken(
        self, submissions: Sequence[Submission], *, is_array: bool
    ) -> tuple[list[JobRecord], list[str]]:
        made = await self._made_before(submissions)
        if made:
            return made, []
        first = submissions[0]
        backend = self.registry.get(first.backend, first.kubeconfig)
        new = await self._intake.take(submissions, backend, is_array=is_array)
        rows = [(job.record, job.spec, [job.event]) for job in new]
        if not await self._ledger.call(self._store.add_all, rows):
            # The same request came twice at once, and the other one was faster.
            for job in new:
                backend.release(job.prepared.port)
            return await self._taken(submissions, is_array=is_array)
        lives = [self._add(job.record) for job in new]
        for job, live in zip(new, lives, strict=True):
            if job.prepared.is_suspended:
                gpus = () if backend.schedules else backend.capacity().gpus
                live.begin(assigned(job.prepared.demand, gpus), wanted=BEGIN_SUSPENDED)
        self._schedule()
        return [live.record for live in lives], new[0].prepared.warnings

    async def plan(self, submission: Submission) -> tuple[Request, list[str]]:
        """What would be sent for a submission, and what its owner should know; nothing is."""
        backend = self.registry.get(submission.backend, submission.kubeconfig)
        count = submission.num_jobs
        first = submission if count is None else elements(submission)[0]
        return await self._intake.plan(first, backend, count)

    async def _made_before(self, submissions: Sequence[Submission]) -> list[JobRecord]:
        """The jobs that the same request has made already."""
        keys = [submission.key for submission in submissions if submission.key]
        found = [await self._ledger.call(self._store.with_key, key) for key in keys[:1]]
        if found and found[0] is not None:
            found += [await self._ledger.call(self._store.with_key, key) for key in keys[1:]]
        return [record for record in found if record is not None]

    async def rerun(self, ref: str) -> Json:
        """Submit once more what a job was made from."""
        record = await self.reading.record(ref)
        spec = await self._ledger.call(self._store.spec, record.id)
        backend = self.registry.of(record.backend, record.handle_data)
        submission = Submission(
            spec.objects,
            name=suffixed(f"{record.name}-") if backend.schedules else "",
            backend=record.backend,
            priority=record.priority,
            workdir=record.workdir,
            environ=spec.environ,
            oversubscribe=record.oversubscribe,
            labels=record.label_map,
            kubeconfig=record.handle_data.get("kubeconfig") or (),
        )
        job, _ = await self.submit(submission)
        return job

    async def cancel(self, ref: str) -> Json:
        """End a job; its processes get their grace period."""
        live = await self._unfinished(ref, "cancelled")
        self._cancel(live)
        return await self.reading.view(live.record)

    async def suspend(self, ref: str) -> Json:
        """Stop a job's processes until it is resumed."""
        live = await self._unfinished(ref, "suspended")
        phase = live.record.phase
        event = self._event(live.record, "Suspending", "someone asked for it")
        if phase == Phase.STOPPING:
            raise ConflictError(f"{live.record.name} is being stopped and cannot be suspended")
        if phase in WAITING and not (live.backend.schedules and live.has_begun):
            live.change(event, phase=Phase.PAUSED, wanted="", reason="", message="")
            self._schedule()
        elif phase != Phase.PAUSED:
            live.want(SUSPEND, event)
        return await self.reading.view(live.record)

    async def resume(self, ref: str) -> Json:
        """Let a suspended job go on; it waits for its resources like any other."""
        live = await self._unfinished(ref, "resumed")
        record = live.record
        if record.phase != Phase.PAUSED:
            if record.wanted in (SUSPEND, BEGIN_SUSPENDED):
                raise ConflictError(
                    f"{record.name} is still being suspended", hint="try again in a moment"
                )
            return await self.reading.view(record)
        event = self._event(record, "Resuming", "someone asked for it")
        live.change(event, phase=Phase.QUEUED, wanted=RESUME if live.has_begun else "")
        self._schedule()
        return await self.reading.view(live.record)

    async def delete(self, ref: str, *, force: bool = False) -> Json:
        """End a job if it runs, wait until all of it is gone, and forget it.

        One that cannot be reached is forgotten by force only; it then says what may be left of it.
        """
        record = await self.reading.record(ref)
        backend = self.registry.of(record.backend, record.handle_data)
        if isinstance(backend, Remote):
            absence = await backend.absence(record.handle_data)
            if absence is not None and not force:
                raise UnavailableError(absence.problem, hint=FORCE_HINT)
            if absence is not None:
                return await self._abandon(record, backend, absence)
        live = self._live.get(record.id)
        if live is not None:
            self._cancel(live)
            await live.over.wait()
            if not live.record.is_over:
                raise UnavailableError("the server stops before the job has ended")
        view = await self.reading.get(record.id)
        await backend.delete(record.handle_data)
        await self._forget(record.id)
        return view

    async def _abandon(self, record: JobRecord, backend: Remote, absence: Absence) -> Json:
        """Forget a job that cannot be reached."""
        live = self._live.get(record.id)
        if live is not None:
            live.finish(Phase.CANCELLED, ABANDONED, absence.remains)
            await live.detach()
        log.warning("job %s is forgotten: %s; %s", record.id, absence.problem, absence.remains)
        view = await self.reading.get(record.id)
        view["status"] |= {"reason": ABANDONED, "message": absence.remains}
        await backend.forget(record.handle_data)
        await self._forget(record.id)
        return view

    async def _forget(self, job_id: str) -> None:
        await self._ledger.call(self._store.delete, job_id)
        self._ledger.changes.notify(job_id)

    async def report_progress(self, ref: str, status: Json) -> None:
        """Note how far a job is, for code that cannot reach its agent."""
        record = await self.reading.record(ref)
        live = self._live.get(record.id)
        if live is None:
            raise ConflictError(f"{record.name} is over")
        await live.change(progress=status)

    async def _unfinished(self, ref: str, verb: str) -> LiveJob:
        record = await self.reading.record(ref)
        live = self._live.get(record.id)
        if live is None:
            phase = record.phase.lower()
            raise ConflictError(f"{record.name} is over ({phase}) and cannot be {verb} any more")
        return live

    def _cancel(self, live: LiveJob) -> None:
        event = self._event(live.record, "Cancelling", "someone asked for it")
        if not live.has_begun:
            live.finish(Phase.CANCELLED, "Cancelled", "it was cancelled before it started")
        elif live.record.wanted != CANCEL:
            live.want(CANCEL, event, phase=Phase.STOPPING)

    def _add(self, record: JobRecord) -> LiveJob:
        backend = self.registry.of(record.backend, record.handle_data)
        live = LiveJob(record, backend, self._around)
        self._live[record.id] = live
        return live

    def _schedule(self) -> None:
        """Start what fits, and tell the others why they wait."""
        waiting = [live for live in self._live.values() if live.record.phase in WAITING]
        self._waiting.clear()
        for live in [live for live in waiting if live.backend.schedules]:
            if not live.has_begun or live.record.wanted == RESUME:
                live.begin({})
        waiting = [live for live in waiting if not live.backend.schedules]
        backends = {live.backend.name: live.backend for live in waiting}
        clusters = self.clusters.gangs()
        if clusters:
            backends[LOCAL] = self.registry.get(LOCAL)
        for backend in backends.values():
            gangs = [live.gang for live in waiting if live.backend is backend]
            gangs += clusters if backend.name == LOCAL else []
            decision = decide(gangs, self._holdings(backend), backend.capacity())
            decision = self.clusters.decided(decision)
            self._waiting.add(decision)
            for job_id, devices in decision.start.items():
                self._live[job_id].begin(devices)
            for job_id, why in decision.waiting.items():
                self._wait(self._live[job_id], Phase.QUEUED, why)
            for job_id, why in decision.inadmissible.items():
                self._wait(self._live[job_id], Phase.INADMISSIBLE, f"it needs {why}")

    def _holdings(self, backend: Backend) -> list[Holding]:
        held = (live.holding for live in self._live.values() if live.backend is backend)
        clusters = self.clusters.holdings() if backend.name == LOCAL else []
        return [*(holding for holding in held if holding is not None), *clusters]

    def _wait(self, live: LiveJob, phase: Phase, why: str) -> None:
        if (live.record.phase, live.record.message) != (phase, why):
            live.change(phase=phase, reason="", message=why)

    def _on_phase(self, live: LiveJob) -> None:
        """A job came to another phase: others may fit now."""
        if live.record.is_over:
            self._live.pop(live.id, None)
            live.backend.release(int(live.record.handle_data["port"]))
            self._retention.look_again()
        if live.record.is_over or live.record.phase == Phase.PAUSED:
            asyncio.get_running_loop().call_soon(self._schedule)

    def _event(self, record: JobRecord, reason: str, message: str) -> Event:
        return Event(time_text(self._clock()), "Normal", reason, message, f"job/{record.name}")
