"""One job that is not over: it is submitted, watched, and told what its owner wants of it.

Its record is changed in memory at once and written behind; after a crash the next server goes on
from what was written. Nothing here decides when a job may begin: that is the queue's.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from trainway.backends.base import AgentStartError, Backend, Devices, Update, Workload
from trainway.backends.demand import Demand
from trainway.engine.agent_starts import USUAL, FailedStarts, StartPolicy
from trainway.engine.ledger import Ledger
from trainway.engine.observation import Observation
from trainway.engine.phases import LIVE, Phase, may_become
from trainway.engine.queue import Gang, Holding
from trainway.engine.record import Event, JobRecord, JobSpec
from trainway.engine.submission import Prepared, Submission, workload_of
from trainway.engine.times import time_text
from trainway.errors import ConflictError, NotFoundError, TrainwayError, UnavailableError
from trainway.jobset.status import find_condition, moment

log = logging.getLogger(__name__)

CANCEL: Final = "cancel"
SUSPEND: Final = "suspend"
BEGIN_SUSPENDED: Final = "begin-suspended"
RESUME: Final = "resume"
DEADLINE: Final = "deadline"
"""What may be wanted of a job and is not done yet. The last is a cancel that counts as failure."""

NOT_STARTED: Final = "AgentNotStarted"
"""The reason of a job whose agent could not be started, and will be again."""

_ENDING: Final = (CANCEL, DEADLINE)
_MOST_LOSSES: Final = 5
"""Agents of one job that may be lost in a row without having done anything."""
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 30.0
_LONGEST_ABSENCE_S: Final = 5.0
"""Between two questions to a backend that does not answer."""
_MAY_WAIT: Final = (Phase.STARTING, Phase.QUEUED, Phase.RESTARTING)
"""Phases in which a backend that schedules may say why nothing runs yet."""


@dataclass(frozen=True)
class Surroundings:
    """What every live job uses."""

    ledger: Ledger
    clock: Callable[[], datetime]
    on_phase: Callable[["LiveJob"], None]
    """Called after a job came to another phase."""
    prepare: Callable[[Submission, Backend], Awaitable[Prepared]]
    """Compiles what was submitted."""
    starts: StartPolicy = USUAL


class LiveJob:
    """Carries one job along until it is over."""

    def __init__(self, record: JobRecord, backend: Backend, around: Surroundings) -> None:
        self.record = record
        self.backend = backend
        self.demand = Demand.from_dict(record.demand_data)
        self.over = asyncio.Event()
        self._around = around
        self._observation = Observation.of(record.observed_data, record.started)
        self._tasks: set[asyncio.Task[None]] = set()
        self._deadline: asyncio.TimerHandle | None = None
        self._starts = FailedStarts(around.starts)
        self._ending = asyncio.Event()
        """Set once the job is to end, so that nothing is waited for any more."""

    @property
    def id(self) -> str:
        """The job's id."""
        return self.record.id

    @property
    def has_begun(self) -> bool:
        """Whether it was ever given to its backend."""
        return self.record.devices != ""

    @property
    def gang(self) -> Gang:
        """The job as the queue sees it."""
        record = self.record
        pinned = record.device_map
        return Gang(record.id, self.demand, record.priority, record.oversubscribe, pinned)

    @property
    def holding(self) -> Holding | None:
        """What it holds; nothing while it waits or is suspended."""
        if self.record.phase not in LIVE or self.record.wanted == BEGIN_SUSPENDED:
            return None
        return Holding(self.demand, self.record.device_map)

    def now(self) -> str:
        """The time, as records have it."""
        return time_text(self._around.clock())

    def change(self, *events: Event, **columns: Any) -> "asyncio.Future[None]":
        """Change the record now and write it behind."""
        before = self.record.phase
        after = Phase(columns.get("phase", before))
        if not may_become(before, after):
            log.warning("job %s cannot become %s from %s", self.id, after, before)
            del columns["phase"]
        self.record = self.record.with_columns(columns)
        written = self._around.ledger.write(self.id, columns, events)
        if self.record.phase != before:
            self._around.on_phase(self)
        if self._is_over():
            self._close()
        return written

    def begin(self, devices: Devices, wanted: str = "") -> None:
        """Give the job to its backend, with these devices."""
        why = f"given to {self.backend.name}" if self.backend.schedules else "all of it fits"
        event = self._event("Starting", why)
        if self.has_begun:
            self.change(event, phase=Phase.STARTING, reason="", message="", wanted=RESUME)
            self._spawn(self._fulfil())
            return
        given = {
            pod: {kind: list(names) for kind, names in kinds.items()}
            for pod, kinds in devices.items()
        }
        written = self.change(
            event, phase=Phase.STARTING, reason="", message="", wanted=wanted, devices=given
        )
        self._spawn(self._carry(written))

    def adopt(self) -> None:
        """Go on with a job that an earlier server began."""
        self._spawn(self._carry(asyncio.sleep(0)))

    def want(self, wanted: str, *events: Event, **columns: Any) -> None:
        """Note what the owner wants and tell the agent; it is told again if it is lost."""
        self.change(*events, wanted=wanted, **columns)
        if wanted in _ENDING:
            self._ending.set()
        self._spawn(self._fulfil())

    async def detach(self) -> None:
        """Stop watching; the job goes on by itself."""
        self._close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _carry(self, written: Awaitable[None]) -> None:
        """Submit, then watch until the job is over, whatever happens to its agent or to us."""
        pause = _FIRST_PAUSE_S
        while not self._is_over():
            try:
                await written
                await self._submit()
                await self._watch()
            except AgentStartError as error:
                await self._start_later(error)
                written = _done()
            except UnavailableError as error:
                log.info("job %s: trying again in %.1f s: %s", self.id, pause, error)
                self.change(reason="Unavailable", message=_sentence(error))
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_ABSENCE_S)
                written = asyncio.sleep(0)
            except TrainwayError as error:
                self._fail(self._failure, _sentence(error))
            except Exception:
                log.exception("job %s: trying again in %.1f s", self.id, pause)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_S)
                written = self._reload()

    async def _start_later(self, error: AgentStartError) -> None:
        """Wait for the next attempt to start an agent, unless that was the last."""
        if self.record.wanted in _ENDING:
            self._end_unstarted()
            return
        pause = self._starts.note(error.message)
        if pause is None:
            self._fail("AgentFailed", self._starts.summary(error.message))
            return
        log.info("job %s: trying again in %.1f s: %s", self.id, pause, error)
        message = f"{error.message}; trying again in {pause:g} s"
        columns: dict[str, Any] = {"reason": NOT_STARTED, "message": message}
        if self.record.phase == Phase.RUNNING:
            columns["phase"] = Phase.RESTARTING
        self.change(self._event(NOT_STARTED, message, kind="Warning"), **columns)
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._ending.wait()

    def _end_unstarted(self) -> None:
        """End a job as its owner wants; it has no agent, and there will be none."""
        if self.record.wanted == DEADLINE:
            text = f"it ran longer than {self.record.deadline_seconds} seconds"
            self._fail("DeadlineExceeded", text)
        else:
            text = "it was cancelled while its agent could not be started"
            self.finish(Phase.CANCELLED, "Cancelled", text)

    @property
    def _failure(self) -> str:
        return "SubmissionFailed" if self.backend.schedules else "AgentFailed"

    async def _reload(self) -> None:
        """Go back to what is stored."""
        try:
            self.record = await self._around.ledger.call(self._around.ledger.store.get, self.id)
        except NotFoundError:
            self._close()
            return
        self._observation = Observation.of(self.record.observed_data, self.record.started)

    async def _submit(self) -> None:
        if self._starts.count and self.record.wanted in _ENDING:
            await self._recover()  # which only clears up: the job must not begin any more
            return
        ledger, record = self._around.ledger, self.record
        spec = await ledger.call(ledger.store.spec, record.id)
        workload = workload_of(record, spec)
        if self.backend.has_lost_network(record.handle_data):
            workload = await self._prepared_anew(workload, spec)
        await self.backend.submit(self.backend.plan(workload))

    async def _prepared_anew(self, workload: Workload, spec: JobSpec) -> Workload:
        """Compile again, for another network than the one that was reserved at first."""
        submission = Submission(spec.objects, backend=self.record.backend)
        prepared = await self._around.prepare(submission, self.backend)
        self.backend.release(workload.port)
        workload = replace(
            workload, jobset=prepared.jobset, objects=prepared.companions, port=prepared.port
        )
        handle = self.backend.plan(workload).handle
        self.record = self.record.with_columns({"handle": handle})
        ledger = self._around.ledger
        await ledger.call(
            ledger.store.prepare_anew, self.id, workload.jobset, workload.objects, handle
        )
        return workload

    async def _watch(self) -> None:
        losses = 0
        while not self._is_over():
            seen = self.record.journal_seq
            if self.record.wanted:
                self._spawn(self._fulfil())
            self._set_deadline()
            async for update in self.backend.watch(self.record.handle_data, seen):
                await self._note(update)
                if self._is_over():
                    return
            losses = 0 if self.record.journal_seq > seen else losses + 1
            if losses > _MOST_LOSSES:
                self._fail("AgentLost", "the job's agent was lost and could not be replaced")
            elif losses:
                await asyncio.sleep(_FIRST_PAUSE_S * 2**losses)
            if not self._is_over() and not await self._recover():
                self._fail("AgentLost", "the job's agent and its directory are gone")

    async def _recover(self) -> bool:
        cancelled = self.record.wanted in _ENDING
        return await self.backend.recover(self.record.handle_data, cancelled=cancelled)

    async def _note(self, update: Update) -> None:
        """Take in what the journal says."""
        observed, record = self._observation, self.record
        observed.events = []
        observed.fold(update.records)
        columns: dict[str, Any] = {
            "journal_seq": update.seq,
            "observed": observed.to_dict(),
            "attempt": observed.attempt,
            "restarts": observed.restarts,
        }
        if observed.progress:
            columns["progress"] = observed.progress
        if observed.started and not record.started:
            columns["started"] = observed.started
        if self._starts.count:
            self._starts.clear()
            columns |= {"reason": "", "message": ""}
        if observed.end is not None:
            columns |= self._end(observed)
        else:
            columns |= self._phase(observed)
        await self.change(*observed.events, *self._phase_events(columns), **columns)
        if self.record.phase == Phase.PAUSED:
            self._clear_deadline()
        else:
            self._set_deadline()

    def _phase(self, observed: Observation) -> dict[str, Any]:
        wanted, phase = self.record.wanted, observed.phase
        columns: dict[str, Any] = {}
        if wanted in _ENDING:
            phase = Phase.STOPPING
        elif wanted == RESUME and observed.is_suspended:
            phase = self.record.phase
        elif wanted == RESUME or (wanted and observed.is_suspended):
            columns["wanted"] = ""
        elif self.record.phase not in (*LIVE, Phase.PAUSED) and not self.backend.schedules:
            phase = self.record.phase  # waits for its resources, with an agent that idles
        said = _why(observed, phase)
        if phase != self.record.phase:
            columns |= {"phase": phase, **said}
        elif self.backend.schedules and phase in _MAY_WAIT:
            columns |= {
                name: text for name, text in said.items() if text != getattr(self.record, name)
            }
        return columns

    def _end(self, observed: Observation) -> dict[str, Any]:
        end = observed.end or {}
        columns: dict[str, Any] = {
            "phase": observed.phase,
            "reason": str(end.get("reason") or ""),
            "message": str(end.get("message") or ""),
            "exit_code": observed.exit_code,
            "wanted": "",
        }
        if self.record.wanted == DEADLINE and observed.phase == Phase.CANCELLED:
            columns |= {
                "phase": Phase.FAILED,
                "reason": "DeadlineExceeded",
                "message": f"it ran longer than {self.record.deadline_seconds} seconds",
            }
        return columns | self._finished(str(end.get("time") or self.now()))

    def _fail(self, reason: str, message: str) -> None:
        self.finish(Phase.FAILED, reason, message)

    def _finished(self, time: str) -> dict[str, Any]:
        ttl = self.record.ttl_seconds
        expires = None if ttl is None else moment(time).timestamp() + ttl
        return {"finished": time, "expires": expires}

    def finish(self, phase: Phase, reason: str, message: str) -> None:
        """End the job, without a word from its agent."""
        columns = {"phase": phase, "reason": reason, "message": message, "wanted": ""}
        kind = "Warning" if phase == Phase.FAILED else "Normal"
        event = self._event(reason, message, kind=kind)
        self.change(event, **columns, **self._finished(self.now()))

    def _phase_events(self, columns: dict[str, Any]) -> Sequence[Event]:
        phase = columns.get("phase")
        if phase is None or phase == self.record.phase:
            return ()
        kind = "Warning" if phase == Phase.FAILED else "Normal"
        message = columns.get("message") or f"the job is {phase.lower()}"
        return (self._event(str(phase), message, kind=kind),)

    def _event(self, reason: str, message: str, kind: str = "Normal") -> Event:
        return Event(self.now(), kind, reason, message, f"job/{self.record.name}")

    async def _fulfil(self) -> None:
        """Tell the agent what is wanted. A lost one is told again once it was replaced."""
        wanted, pause = self.record.wanted, _FIRST_PAUSE_S
        while wanted == self.record.wanted and not self._is_over():
            if self.record.phase not in (*LIVE, Phase.PAUSED) and not self.backend.schedules:
                return
            try:
                await self._tell(wanted)
            except UnavailableError as error:
                if isinstance(error, AgentStartError) and wanted in _ENDING:
                    self._end_unstarted()
                    return
                log.info("job %s: %s has to wait: %s", self.id, wanted, error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_ABSENCE_S)
                continue
            except TrainwayError as error:
                log.info("job %s: %s is not done yet: %s", self.id, wanted, error)
                if self.backend.schedules:
                    is_refused = isinstance(error, ConflictError) and wanted not in _ENDING
                    said = {"message": f"it cannot be told to {wanted}: {_sentence(error)}"}
                    self.change(**said, **({"wanted": ""} if is_refused else {}))
            return

    async def _tell(self, wanted: str) -> None:
        handle = self.record.handle_data
        if wanted in _ENDING:
            await self.backend.cancel(handle)
        elif wanted == SUSPEND:
            await self.backend.suspend(handle)
        elif wanted == RESUME:
            await self.backend.resume(handle)

    def _set_deadline(self) -> None:
        limit = self.record.deadline_seconds
        if limit is None or self._deadline is not None or not self.record.started:
            return
        begin = moment(self.record.started)
        conditions = self._observation.jobset.get("conditions") or []
        suspended = find_condition(conditions, "Suspended")
        if suspended is not None and suspended.get("status") == "False":
            begin = max(begin, moment(suspended["lastTransitionTime"]))
        left = begin + timedelta(seconds=limit) - self._around.clock()
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(max(left.total_seconds(), 0), self._miss_deadline)

    def _clear_deadline(self) -> None:
        """Stop counting: the time begins anew when the job is resumed."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _miss_deadline(self) -> None:
        self._deadline = None
        if self.record.phase in LIVE and self.record.wanted not in _ENDING:
            text = f"it ran longer than {self.record.deadline_seconds} seconds"
            event = self._event("DeadlineExceeded", text, kind="Warning")
            self.want(DEADLINE, event, phase=Phase.STOPPING)

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _is_over(self) -> bool:
        return self.record.is_over

    def _close(self) -> None:
        self.over.set()
        self._clear_deadline()


def _done() -> "asyncio.Future[None]":
    """Nothing to wait for."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


def _sentence(error: TrainwayError) -> str:
    """What is wrong and what to do about it, in the one line that a job has for them."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


def _why(observed: Observation, phase: Phase) -> dict[str, str]:
    """What a job says for itself while nothing of it runs."""
    waiting = observed.waiting if phase in _MAY_WAIT else {}
    return {name: str(waiting.get(name) or "") for name in ("reason", "message")}
