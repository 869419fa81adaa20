"""One job that is not over: it is submitted, watched, and told what its owner wants of it.

All that is done with a job follows from its record as it is stored, so after a crash the next
server goes on where this one was. Nothing here decides when a job may begin: that is the queue's.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from trainway.api.timeout import past_timeout
from trainway.backends import capabilities
from trainway.backends.base import AgentStartError, Backend, Devices, Update, Workload
from trainway.engine.agent_starts import USUAL, FailedStarts, StartPolicy
from trainway.engine.backoff import LONGEST_S, Backoff
from trainway.engine.checkpoint.restoring import restored
from trainway.engine.deadline import Deadline
from trainway.engine.ledger import Ledger
from trainway.engine.metrics.job_metrics import JobMetrics
from trainway.engine.metrics.recorder import Recorder
from trainway.engine.notify.outbox import NewNotice
from trainway.engine.observation import GIVEN_AT, KNOWN_AT, Observation
from trainway.engine.observed_columns import finished_columns, observed_columns, wished_end
from trainway.engine.phases import LIVE, Phase
from trainway.engine.queue import Holding, QueuedGang
from trainway.engine.queue_entry import held_by, queued_gang
from trainway.engine.queues.resizing import tell_limit
from trainway.engine.record import Event, JobRecord, JobSpec
from trainway.engine.stored_job import Change, StoredJob
from trainway.engine.submission import Prepared, Submission, workload_of
from trainway.engine.times import time_text
from trainway.engine.wishes import DEADLINE, ENDING, RESUME, SUSPEND, is_explained, is_new
from trainway.errors import ConflictError, DatabaseError, TrainwayError, UnavailableError

log = logging.getLogger(__name__)

NOT_STARTED: Final = "AgentNotStarted"
"""The reason of a job whose agent could not be started, and will be again."""

_MOST_LOSSES: Final = 5
"""How many agents of one job may be lost in a row without having done anything."""
_FIRST_LOSS_S: Final = 0.1
_LONGEST_FAILURE_S: Final = 30.0
"""The longest pause between two attempts at what fails without our knowing why, in seconds."""


@dataclass(frozen=True)
class LiveContext:
    """What every live job uses."""

    ledger: Ledger
    clock: Callable[[], datetime]
    on_phase: Callable[["LiveJob"], None]
    """Called after a job came to another phase or to another size, or set out for elsewhere."""
    on_gone: Callable[["LiveJob"], None]
    """Called for a job that the store does not have any more."""
    prepare: Callable[[Submission, Backend], Awaitable[Prepared]]
    """Compiles what was submitted."""
    recorder: Recorder
    """Keeps what training code reports."""
    starts: StartPolicy = USUAL
    notices: Callable[[JobRecord, JobRecord], Sequence[NewNotice]] = lambda _before, _after: ()
    """What is to be told to somebody when one record of a job becomes another."""


class LiveJob(StoredJob):
    """Carries one job along until it is over."""

    def __init__(self, record: JobRecord, backend: Backend, around: LiveContext) -> None:
        super().__init__(record, around.ledger)
        self.backend = backend
        self.over = asyncio.Event()
        self._around = around
        self.observation = Observation.of(record.observed_data, record.started)
        self._metrics = JobMetrics(self, around.recorder)
        self._carrier: asyncio.Task[None] | None = None
        self._deadline = Deadline(around.clock, self._on_deadline)
        self._starts = FailedStarts(around.starts)
        self._ending = asyncio.Event()
        """Set once the job is to end, so that nothing is waited for any more."""

    @property
    def has_begun(self) -> bool:
        """Whether it was ever given to its backend."""
        return self.record.devices != ""

    @property
    def gang(self) -> QueuedGang:
        """The job as the queue sees it."""
        return queued_gang(self.record)

    @property
    def holding(self) -> Holding | None:
        """What it holds; nothing while it waits or is suspended."""
        return held_by(self.record)

    def now(self) -> str:
        """The time, as records have it."""
        return time_text(self._around.clock())

    def entered(self, before: JobRecord) -> None:
        """Do what the record says; it is stored, so the next server would do it too."""
        record = self.record
        if record.wanted in ENDING:
            self._ending.set()
        sets_out = record.move and not before.move
        if sets_out or (record.phase, record.demand) != (before.phase, before.demand):
            self._around.on_phase(self)
        if record.is_over:
            self._close()
        elif self.has_begun and self._carrier is None:
            self.carry()
        elif is_new(before, record):
            self.background.spawn(self._fulfil())
        if record.node_limit != before.node_limit:
            self.background.spawn(tell_limit(self, self.backend, self._around.clock))

    def notices(self, after: JobRecord) -> Sequence[NewNotice]:
        """As whoever notifies people says."""
        return self._around.notices(self.record, after)

    def vanished(self) -> None:
        """Let go of a job that was forgotten."""
        self._close()
        self._around.on_gone(self)

    def beginning(self, devices: Devices, wanted: str = "") -> Change:
        """What gives the job to its backend, with these devices, once it is written."""
        given = f"given to {self.backend.name}"
        why = given if self.backend.schedules else "there is room for all nodes"
        columns: dict[str, Any] = {"phase": Phase.STARTING, "reason": "", "message": ""}
        columns |= {"wanted": RESUME if self.has_begun else wanted, "making_room": None}
        now = self.observation.given_at = self.observation.known_at = self.now()
        columns["observed"] = {**self.record.observed_data, GIVEN_AT: now, KNOWN_AT: now}
        if not self.has_begun:
            columns["devices"] = {
                pod: {kind: list(names) for kind, names in kinds.items()}
                for pod, kinds in devices.items()
            }
        return Change(columns, [self.event("Starting", why)])

    def carry(self) -> None:
        """Submit the job unless that was done, and go on with it until it is over."""
        self._carrier = self.background.spawn(self._carry())

    async def detach(self) -> None:
        """Stop watching; the job goes on by itself."""
        self._close()
        await self.background.close()

    async def _carry(self) -> None:
        """Submit, then watch until the job is over, whatever happens to its agent or to us."""
        backoff = Backoff()
        while not self.over.is_set() and not self._is_over():
            longest = LONGEST_S
            try:
                if await self._attempt():
                    continue
            except DatabaseError as error:
                log.warning("job %s: trying again in %.1f s: %s", self.id, backoff.pause_s, error)
                self.doubt()
            except Exception:
                log.exception("job %s: trying again in %.1f s", self.id, backoff.pause_s)
                self.doubt()
                longest = _LONGEST_FAILURE_S
            if not self.over.is_set():
                await backoff.wait(longest)

    async def _attempt(self) -> bool:
        """Do all that until it fails; whether the next attempt is due at once."""
        try:
            await self._take_up()
            await self._submit()
            await self._watch()
        except DatabaseError:
            raise
        except AgentStartError as error:
            await self._start_later(error)
            return True
        except UnavailableError as error:
            log.info("job %s: trying again: %s", self.id, error)
            columns = {"reason": "Unavailable", "message": error.sentence}
            await self.observe(lambda: None if is_explained(self.record) else Change(columns))
        except TrainwayError as error:
            reason = "SubmissionFailed" if self.backend.schedules else "AgentFailed"
            await self._fail(reason, error.sentence)
        return False

    async def _take_up(self) -> None:
        """Go back to what is stored, if there is any doubt about it."""
        async with self.pen:
            await self.refresh()
        self.observation = Observation.of(self.record.observed_data, self.record.started)

    async def _start_later(self, error: AgentStartError) -> None:
        """Wait for the next attempt to start an agent, unless that was the last."""
        if self.record.wanted in ENDING:
            await self._end_unstarted()
            return
        pause = self._starts.note(error.message)
        if pause is None:
            await self._fail("AgentFailed", self._starts.summary(error.message))
            return
        log.info("job %s: trying again in %.1f s: %s", self.id, pause, error)
        message = f"{error.message}; trying again in {pause:g} s"
        await self.insist(lambda: self._unstarted(message))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), pause)

    def _unstarted(self, message: str) -> Change:
        """What is said of a job while its agent cannot be started."""
        columns: dict[str, Any] = {"reason": NOT_STARTED, "message": message}
        if self.record.phase == Phase.RUNNING:
            columns["phase"] = Phase.RESTARTING
        return Change(columns, [self.event(NOT_STARTED, message, kind="Warning")])

    async def _end_unstarted(self) -> None:
        """End a job as its owner wants; it has no agent, and there will be none."""
        text = "it was cancelled while its agent could not be started"
        await self.insist(lambda: self.ending(*wished_end(self.record, text)))

    async def _submit(self) -> None:
        if self._starts.count and self.record.wanted in ENDING:
            await self._recover()  # which only clears up: the job must not begin any more
            return
        ledger, record = self._around.ledger, self.record
        spec = await ledger.call(ledger.store.spec, record.id)
        workload = workload_of(record, spec)
        if capabilities.has_lost_network(self.backend, record.handle_data):
            workload = await self._prepared_anew(workload, spec)
        request = self.backend.plan(workload)
        await restored(self, request.handle, spec.objects)
        await self.backend.submit(request)
        self._metrics.begin(spec.objects)

    async def _prepared_anew(self, workload: Workload, spec: JobSpec) -> Workload:
        """Compile again, for another network than the one that was reserved at first."""
        submission = Submission(spec.objects, backend=self.record.backend)
        prepared = await self._around.prepare(submission, self.backend)
        former = workload.port
        workload = replace(
            workload, jobset=prepared.jobset, objects=prepared.companions, port=prepared.port
        )
        handle = self.backend.plan(workload).handle
        ledger = self._around.ledger
        async with self.pen:
            await ledger.call(
                ledger.store.prepare_anew, self.id, workload.jobset, workload.objects, handle
            )
            self.record = self.record.with_columns({"handle": handle})
        capabilities.release(self.backend, former)
        return workload

    async def _watch(self) -> None:
        losses = 0
        while not self._is_over():
            seen = self.record.journal_seq
            if self.record.wanted:
                self.background.spawn(self._fulfil())
            self.background.spawn(tell_limit(self, self.backend, self._around.clock))
            self._set_deadline()
            async for update in self.backend.watch(self.record.handle_data, seen):
                await self._note(update)
                if self._is_over():
                    return
            losses = 0 if self.record.journal_seq > seen else losses + 1
            if losses > _MOST_LOSSES:
                await self._fail("AgentLost", "the job's agent was lost and could not be replaced")
            elif losses:
                await asyncio.sleep(_FIRST_LOSS_S * 2**losses)
            if not self._is_over() and not await self._recover():
                await self._fail("AgentLost", "the job's agent and its directory are gone")

    async def _recover(self) -> bool:
        handle, is_ending = self.record.handle_data, self.record.wanted in ENDING
        return await capabilities.recover(self.backend, handle, cancelled=is_ending)

    async def _note(self, update: Update) -> None:
        """Take in what the journal says."""
        observed = self.observation
        observed.events, observed.reports, observed.links, observed.reported = [], [], {}, {}
        observed.fold(update.records, self.now())
        if await self._metrics.take(update, observed):
            return
        await self.observe(lambda: self._noted(update.seq, observed))
        if self.record.phase == Phase.PAUSED or self.record.making_room:
            self._deadline.clear()
        else:
            self._set_deadline()

    def _noted(self, seq: int, observed: Observation) -> Change:
        """What an observation changes, together with how far the journal was read."""
        columns: dict[str, Any] = {
            "journal_seq": seq,
            "observed": observed.to_dict(),
            "attempt": observed.attempt,
            "restarts": observed.restarts,
        }
        if observed.reported:
            columns["progress"] = observed.reported
        if bool(observed.started) != bool(self.record.started):
            columns["started"] = observed.started  # a queue may have taken the job back
        if self._starts.count:
            self._starts.clear()
            columns |= {"reason": "", "message": ""}
        columns |= observed_columns(
            self.record, observed, schedules=self.backend.schedules, now=self.now()
        )
        return Change(columns, [*observed.events, *self._phase_events(columns)])

    async def _fail(self, reason: str, message: str) -> None:
        await self.observe(lambda: self.ending(Phase.FAILED, reason, message))

    def ending(self, phase: Phase, reason: str, message: str, wish: str = "") -> Change:
        """What ends the job, without a word from its agent; for that wish, if it is a new one."""
        columns = {"phase": phase, "reason": reason, "message": message}
        kind = "Warning" if phase == Phase.FAILED else "Normal"
        event = self.event(reason, message, kind=kind)
        return Change(columns | finished_columns(self.record, self.now(), wish), [event])

    def _phase_events(self, columns: dict[str, Any]) -> Sequence[Event]:
        phase = columns.get("phase")
        if phase is None or phase == self.record.phase:
            return ()
        kind = "Warning" if phase == Phase.FAILED else "Normal"
        message = columns.get("message") or f"the job is {phase.lower()}"
        return (self.event(str(phase), message, kind=kind),)

    def event(self, reason: str, message: str, kind: str = "Normal") -> Event:
        """Something that happens to the job now."""
        return Event(self.now(), kind, reason, message, f"job/{self.record.name}")

    async def _fulfil(self) -> None:
        """Tell the agent what is wanted. A lost one is told again once it was replaced."""
        wanted, backoff = self.record.wanted, Backoff()
        while wanted == self.record.wanted and not self._is_over():
            if self.record.phase not in (*LIVE, Phase.PAUSED) and not self.backend.schedules:
                return
            try:
                await self._tell(wanted)
            except UnavailableError as error:
                if isinstance(error, AgentStartError) and wanted in ENDING:
                    await self._end_unstarted()
                    return
                log.info("job %s: %s has to wait: %s", self.id, wanted, error)
                await backoff.wait()
                continue
            except TrainwayError as error:
                log.info("job %s: %s is not done yet: %s", self.id, wanted, error)
                if self.backend.schedules:
                    await self.insist(partial(self._refused, wanted, error))
            return

    def _refused(self, wanted: str, error: TrainwayError) -> Change | None:
        """What follows when the backend does not do what is wanted."""
        if self.record.wanted != wanted or self._is_over() or is_explained(self.record):
            return None
        columns: dict[str, Any] = {"message": f"it cannot be told to {wanted}: {error.sentence}"}
        if isinstance(error, ConflictError) and wanted not in ENDING:
            columns |= {"wanted": "", "making_room": None}
        return Change(columns)

    async def _tell(self, wanted: str) -> None:
        handle = self.record.handle_data
        if wanted in ENDING:
            await self.backend.cancel(handle)
        elif wanted == SUSPEND:
            await capabilities.suspending(self.backend).suspend(handle)
        elif wanted == RESUME:
            await capabilities.suspending(self.backend).resume(handle)

    def _set_deadline(self) -> None:
        self._deadline.set(self.record, self.observation.jobset.get("conditions") or [])

    def _on_deadline(self) -> None:
        self.background.spawn(self.insist(self._overdue))

    def _overdue(self) -> Change | None:
        if self.record.phase not in LIVE or self.record.wanted in ENDING:
            return None
        said = past_timeout(self.record.deadline_seconds)
        event = self.event("DeadlineExceeded", said, kind="Warning")
        return Change({"wanted": DEADLINE, "phase": Phase.STOPPING}, [event])

    def _is_over(self) -> bool:
        return self.record.is_over

    def _close(self) -> None:
        self.over.set()
        self._metrics.close()
        self._deadline.clear()
