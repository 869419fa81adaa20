"""Moves jobs from place to place, one step after the other.

Each step is written before it is made, and may be made twice: a place that is asked again to let go
of a job has nothing to do, and a job that is stored with its new place is given to it like any job
that has just been submitted. While a job is between two places its pen is held, so that wishes of
its owner are decided by where it is then.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, Final, cast

from trainway.agent.transfer.blobs import stored_files
from trainway.backends import capabilities
from trainway.backends.base import Backend
from trainway.backends.hand_over import handing_over
from trainway.backends.registry import Registry
from trainway.engine.backoff import Backoff
from trainway.engine.intake import prepare, refuse_unfitting
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveContext, LiveJob
from trainway.engine.moving.arrival import (
    Arrival,
    House,
    at_house,
    left_to_try,
    remembered,
    rented_again,
    submission_at,
)
from trainway.engine.moving.judgement import Taken, judged
from trainway.engine.moving.move import BETWEEN, Candidate, Move, Step, unplaced, with_objects
from trainway.engine.moving.patience import Patience
from trainway.engine.moving.recovered_job import RecoveredJob
from trainway.engine.moving.wish import begins_anew, check_leaving, check_movable, moving
from trainway.engine.moving.withdrawal import WorkDoneError, withdraw
from trainway.engine.observation import Observation
from trainway.engine.phases import Phase
from trainway.engine.reading import Reading
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.rental.interruption import Interruption
from trainway.engine.storage.folder_check import rehearse
from trainway.engine.stored_job import Change, write
from trainway.engine.submission import Submission, workload_of
from trainway.engine.wishes import ENDING
from trainway.engine.wishing import cancelled_between, is_over, resuming
from trainway.errors import ConflictError, DatabaseError, TrainwayError, UnavailableError
from trainway.families.family import Files
from trainway.families.table import family_of
from trainway.jobset.status import moment
from trainway.json_types import Json

log = logging.getLogger(__name__)

_HOUSING_S: Final = 30.0
"""How long a cloud is asked for a job, whose pen is held meanwhile, before it is asked again."""


class Moves:
    """All moves of one server."""

    def __init__(
        self,
        ledger: Ledger,
        registry: Registry,
        reading: Reading,
        live: Mapping[str, LiveJob],
        schedule: Callable[[], object],
        taken: Taken,
        house: House,
    ) -> None:
        self._ledger = ledger
        self._registry = registry
        self._reading = reading
        self._live = live
        """The jobs that are not over."""
        self._schedule = schedule
        """Called when a job may begin."""
        self._taken, self._house = taken, house
        self._under_way: set[str] = set()
        self._patience = Patience(self.look)

    def job(self, record: JobRecord, backend: Backend, around: LiveContext) -> LiveJob:
        """A job that is not over, which can move."""
        made = RecoveredJob(record, backend, around, self._registry.of)
        if record.candidates or record.recovery:
            asyncio.get_running_loop().call_soon(self._patience.look, made)
        return made

    @property
    def is_idle(self) -> bool:
        """Whether no job is on its way."""
        return not any(live.record.move for live in self._live.values())

    def check(self, job_id: str, on: str) -> None:
        """Raise why a job cannot move there now, as far as no place has to be asked for that."""
        if (live := self._live.get(job_id)) is not None:
            check_movable(live, on)

    def check_both(self, job_id: str, on: str) -> None:
        """The same, also by what the place where it is and the other one can do."""
        if (live := self._live.get(job_id)) is not None:
            check_movable(live, on)
            check_leaving(live, self._registry.get(on))

    async def submission(
        self, ref: str, on: str, objects: Sequence[Json], kubeconfig: Sequence[str] = ()
    ) -> Submission:
        """What the job would be at another place; `objects` replace its own of that name."""
        record = await self._reading.record(ref)
        spec = await self._ledger.call(self._ledger.store.spec, record.id)
        to = Candidate(on, unplaced(with_objects(spec.objects, objects), record), tuple(kubeconfig))
        return submission_at(record, to)

    async def move(
        self, ref: str, on: str, objects: Sequence[Json] = (), kubeconfig: Sequence[str] = ()
    ) -> Json:
        """Have a job go on at another place. When this returns it is stored that it will."""
        record = await self._reading.record(ref)
        live = self._live.get(record.id)
        if live is None:
            raise is_over(record, "moved")
        spec = await self._ledger.call(self._ledger.store.spec, record.id)
        there = unplaced(with_objects(spec.objects, objects), record)
        to = Candidate(on, there, tuple(kubeconfig))
        files = record.handle_data.get("kubeconfig") or ()
        back = Candidate(record.backend, spec.objects, files)
        await self._check(live, spec, to)
        target = self._registry.get(to.backend, to.kubeconfig)
        await live.alter(lambda: moving(live, to, back, target))
        self.look(live)
        return self._reading.shown(live.record, spec.objects)

    def look(self, live: LiveJob) -> None:
        """See whether something is to be done for the move of a job; called when it changed."""
        job = cast("RecoveredJob", live)
        if live.record.candidates or live.record.recovery:
            self._patience.look(job)
        if job.record.move and job.id not in self._under_way and _is_due(job):
            self._under_way.add(job.id)
            task = job.background.spawn(self._go_on(job))
            task.add_done_callback(lambda _: self._under_way.discard(job.id))

    async def begin_anew(self, live: LiveJob, why: str, taken: Interruption | None = None) -> None:
        """Have a job wait at its place again that has lost, or loses, where it ran there."""
        await live.insist(lambda: begins_anew(live, why, taken=taken))
        self.look(live)

    async def fail(self, live: LiveJob, reason: str, message: str) -> None:
        """End a job that has not begun, unless it can go on elsewhere, or back."""
        await cast("RecoveredJob", live).give_up(reason, message)
        self.look(live)

    async def _check(self, live: LiveJob, spec: JobSpec, to: Candidate) -> None:
        """Raise why a job cannot leave, or cannot go there; nothing is changed."""
        record = live.record
        check_movable(live, to.backend)
        target = self._registry.get(to.backend, to.kubeconfig)
        check_leaving(live, target)
        if stored_files(to.objects) and family_of(to.backend).files is not Files.STREAMED:
            raise ConflictError(
                f"{record.name} has files that were sent ahead of it, and {to.backend} takes none",
                hint="submit it there as a new job",
            )
        if family_of(to.backend).rents:
            return  # whoever asks has seen what can be rented; nothing is, until it has left
        arrival = await self.arrival(record, spec, to)
        capabilities.release(arrival.backend, arrival.port)

    @asynccontextmanager
    async def housed(
        self, record: JobRecord, at: Candidate
    ) -> AsyncIterator[tuple[JobRecord, Candidate]]:
        """The job for a place; on a cloud with machines that are its own once it is stored.

        A pool that it has left is gone, so that machines are rented for it anew.
        """
        if at.backend != record.backend:
            at = replace(at, backend=rented_again(record, at.backend))
        async with self._house(submission_at(record, at)) as found:
            yield at_house(record, at, found)

    async def arrival(self, record: JobRecord, spec: JobSpec, at: Candidate) -> Arrival:
        """The job, made for a place; raises why it cannot be there."""
        backend = self._registry.get(at.backend, at.kubeconfig)
        await capabilities.look(backend)
        submission = submission_at(record, at)
        prepared = await prepare(submission, backend)
        try:
            refuse_unfitting(prepared, submission, backend)
            made = replace(
                spec,
                environ=at.environ or spec.environ,
                objects=prepared.objects,
                jobset=prepared.jobset,
                companions=prepared.companions,
            )
            columns: dict[str, Any] = {
                "backend": backend.name,
                "labels": dict(record.label_map),
                "namespace": prepared.namespace,
                "demand": prepared.demand.to_dict(),
                "devices": "",
                "handle": {"port": prepared.port},
            }
            workload = workload_of(record.with_columns(columns), made)
            request = backend.plan(replace(workload, handle={}, continues=bool(record.started)))
            await rehearse(backend, request, prepared.objects)
        except BaseException:
            capabilities.release(backend, prepared.port)
            raise
        columns["handle"] = request.handle
        limit = None if request.handle.get("deadline") else prepared.deadline_seconds
        planned = Observation.planned(prepared.jobset["spec"]).to_dict()
        columns["deadline_seconds"] = limit
        return Arrival(backend, prepared.port, columns, made, planned)

    async def _go_on(self, live: RecoveredJob) -> None:
        """Make the steps that are due; what cannot be done now is tried again."""
        backoff = Backoff()
        while not live.over.is_set():
            await live.let_go()  # without the pen: it may be about to write
            try:
                async with live.pen:
                    await live.refresh()
                    if not await self._step(live):
                        break
            except (UnavailableError, DatabaseError) as error:
                log.info("job %s: its move has to wait: %s", live.id, error)
                await backoff.wait()
            except Exception:
                log.exception("job %s: its move has to wait", live.id)
                await backoff.wait()
        self._schedule()

    async def _step(self, live: RecoveredJob) -> bool:
        """Make the next step of a job whose pen is held; whether there is one more."""
        move = live.move
        if live.record.is_over:
            return False
        if move is not None and move.has_ended and live.record.wanted in ENDING:
            await self._write(live, cancelled_between(live))
            return False
        if move is None or live.record.wanted in ENDING:
            await self._write(live, Change({"move": None}))
            if live.has_begun:
                live.carry()  # its end comes from where it was
            return False
        if move.step is Step.STOPPING:
            await self._write(live, Change({"move": move.followed_by(Step.LEAVING).text()}))
            return True
        if not _is_due(live):
            self._patience.look(live)
            return False
        try:
            if move.step is Step.LEAVING:
                return await self._leave(live, move)
            if move.step is Step.RETURNING:
                await self._return(live, move)
        except WorkDoneError as done:
            await self._write(live, Change({"move": None}))
            live.background.spawn(live.take_in(done.updates))
        return False

    async def _leave(self, live: RecoveredJob, move: Move) -> bool:
        move = await judged(live, move, self._taken)
        try:
            await self._let_go(live, move)
        except (UnavailableError, WorkDoneError):
            raise
        except TrainwayError as error:
            await self._stay(live, move, error)
            return False
        spec = await self._ledger.call(self._ledger.store.spec, live.id)
        async with AsyncExitStack() as stack:
            try:
                to = replace(move.to, objects=move.to.objects or spec.objects)
                async with asyncio.timeout(_HOUSING_S):
                    known, to = await stack.enter_async_context(self.housed(live.record, to))
                arrival = await self.arrival(known, spec, to)
            except DatabaseError:
                raise
            except TimeoutError:
                raise UnavailableError(f"{move.to.backend} does not answer") from None
            except TrainwayError as error:
                refused = live.declined(error.sentence) or live.going_back(move, error.sentence)
                await self._write(live, refused)
                return True
            await self._left(live, move, spec, arrival)
        return False

    async def _left(self, live: RecoveredJob, move: Move, spec: JobSpec, arrival: Arrival) -> None:
        """Store a job that has left with its new place."""
        if not move.back.objects:
            move = replace(move, back=replace(move.back, objects=spec.objects))
        seq = -1 if move.withdraws else live.record.journal_seq
        said, resumes = f"{move.back.backend} has let go of it", move.resumes
        after = None if move.anew or not resumes else move.followed_by(Step.ARRIVING, seq)
        how = {"resumes": resumes, "begins_anew": move.withdraws}
        await self._arrive(live, arrival, after, said, **how, taken=move.taken)

    async def _return(self, live: RecoveredJob, move: Move) -> None:
        """Have it go on where it came from; where that fails too, it stays suspended."""
        await self._let_go(live, move)
        spec = await self._ledger.call(self._ledger.store.spec, live.id)
        place = rented_again(live.record, move.back.backend)
        async with AsyncExitStack() as stack:
            try:
                back = replace(move.back, backend=place, objects=move.back.objects or spec.objects)
                known, back = await stack.enter_async_context(self.housed(live.record, back))
                arrival = await self.arrival(known, spec, back)
            except UnavailableError:
                raise
            except TrainwayError as error:
                said = f"{place} does not take it back: {error.sentence}"
                event = live.event("MoveRefused", said, kind="Warning")
                await self._write(live, Change({"move": None, "message": said}, [event]))
                return
            said, anew = f"it goes on at {place}", move.withdraws
            await self._arrive(live, arrival, None, said, resumes=move.resumes, begins_anew=anew)

    async def _let_go(self, live: RecoveredJob, move: Move) -> None:
        """Have its place let go of a job that was ever given to it; nothing of it runs then."""
        handle = live.record.handle_data
        if not live.has_begun:
            return
        if not move.withdraws:
            await handing_over(live.backend).leave(handle)
            return
        await withdraw(live, move)

    async def _stay(self, live: RecoveredJob, move: Move, error: TrainwayError) -> None:
        """It cannot leave: it goes on where it is."""
        said = f"it stays at {live.record.backend}: {error.sentence}"
        event = live.event("MoveRefused", said, kind="Warning")
        await self._write(live, Change({"move": None, "message": said}, [event]))
        live.carry()
        if move.resumes:
            live.background.spawn(self._resume(live))

    async def _resume(self, live: RecoveredJob) -> None:
        await live.insist(lambda: resuming(live))
        self._schedule()

    async def _arrive(
        self,
        live: RecoveredJob,
        arrival: Arrival,
        after: Move | None,
        said: str,
        *,
        resumes: bool,
        begins_anew: bool = False,
        taken: str = "",
    ) -> None:
        """Store a job with a place; it begins there like one that was submitted."""
        columns = {
            **arrival.columns,
            "move": after.text() if after else None,
            "phase": Phase.QUEUED if resumes else Phase.PAUSED,
            "wanted": "",
            "reason": "",
            "message": "",
        }
        if begins_anew:
            columns |= {"journal_seq": -1, "observed": arrival.planned, "started": ""}
        columns |= remembered(live, arrival.planned if begins_anew else None, taken)
        columns |= left_to_try(live)
        reason = "Arriving" if after else "Arrived"
        change = Change(columns, [live.event(reason, said)], arrival.spec)
        try:
            await self._write(live, change)
        except BaseException:
            if live.record.backend != arrival.backend.name:
                capabilities.release(arrival.backend, arrival.port)
            raise

    async def _write(self, live: RecoveredJob, change: Change) -> None:
        await write(self._ledger, [(live, change)])


def _is_due(live: RecoveredJob) -> bool:
    """Whether the next step of a move can be made."""
    move = live.move
    if move is None or live.record.is_over:
        return False
    if move.at and moment(live.now()) < moment(move.at) and live.record.wanted not in ENDING:
        return False
    is_stopped = move.step is Step.STOPPING and live.record.phase == Phase.PAUSED
    return is_stopped or move.step in BETWEEN
