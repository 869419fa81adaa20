"""A live job that can change its place: its backend is always the one that its record names."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from trainway.backends import capabilities
from trainway.backends.base import Backend, Devices, Handle, Update
from trainway.backends.hand_over import Packs
from trainway.engine.agent_starts import FailedStarts
from trainway.engine.live import LiveContext, LiveJob
from trainway.engine.moving.candidates import is_undecided, may_go_on, onward
from trainway.engine.moving.move import BETWEEN, Move, Step, move_of
from trainway.engine.moving.wish import begins_anew
from trainway.engine.observation import Observation
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.recovery.cause import Cause, cause_of_end
from trainway.engine.stored_job import Change
from trainway.engine.wishes import ENDING, RESUME, SUSPEND
from trainway.engine.worker_pool.assignment import is_for_workers
from trainway.errors import DatabaseError, TrainwayError

log = logging.getLogger(__name__)

Backends = Callable[[str, Handle], Backend]
"""Gives the backend of a job by its name and the job's handle."""


class MovableJob(LiveJob):
    """Carries one job along, wherever it goes."""

    def __init__(
        self, record: JobRecord, backend: Backend, around: LiveContext, backends: Backends
    ) -> None:
        super().__init__(record, backend, around)
        self._backends = backends

    @property
    def move(self) -> Move | None:
        """Where it is on its way; None: it does not move."""
        return move_of(self.record)

    def put(self, record: JobRecord) -> None:
        """Take up a record that is stored, and the backend that it names."""
        before = self.record
        has_left = before.devices != "" and record.devices == ""
        is_placed = is_undecided(before) and before.handle != record.handle
        if record.backend != before.backend or has_left or is_placed:
            capabilities.release(self.backend, int(before.handle_data["port"]))
            self.backend = self._backends(record.backend, record.handle_data)
            self._carrier = None
            self._starts = FailedStarts(self._around.starts)
        super().put(record)

    def carry(self) -> None:
        """Carry it along, unless it is between two places."""
        move = self.move
        if move is None or move.step not in BETWEEN:
            super().carry()

    async def let_go(self) -> None:
        """Stop watching it; whatever is being written of it is written first."""
        if self._carrier is not None:
            self._carrier.cancel()
            await asyncio.gather(self._carrier, return_exceptions=True)

    async def take_in(self, updates: Sequence[Update]) -> None:
        """Note what its journal said while nobody else watched it, and watch it again."""
        try:
            await self._take_up()
            for update in updates:
                await self._note(update)
        except DatabaseError as error:
            log.warning("job %s: its journal is read again: %s", self.id, error)
            self.doubt()
        except Exception:
            log.exception("job %s: its journal is read again", self.id)
            self.doubt()
        self.carry()

    def beginning(self, devices: Devices, wanted: str = "") -> Change:
        """What gives it to its backend; where it comes from another one, it is suspended."""
        change = super().beginning(devices, wanted)
        if self.has_begun or self.record.journal_seq < 0:
            return change
        return Change({**change.columns, "wanted": RESUME}, change.events)

    def _noted(self, seq: int, observed: Observation) -> Change:
        """With the first word from its new place it has arrived; once started, it stays."""
        change = super()._noted(seq, observed)
        if self._has_lost_worker(change):
            why = f"its worker is lost: {change.columns.get('message') or 'it was released'}"
            anew = begins_anew(self, why, has_ended=True)
            if anew is not None:
                kept = {name: change.columns[name] for name in ("journal_seq", "observed")}
                return Change({**kept, **anew.columns}, anew.events)
        if self.record.candidates and change.columns.get("started"):
            change = Change({**change.columns, "candidates": None}, change.events)
        move = self.move
        if move is None or move.step is not Step.ARRIVING:
            return change
        said = f"it goes on at {self.record.backend}, where it has come from {move.back.backend}"
        return Change({**change.columns, "move": None}, [self.event("Moved", said), *change.events])

    async def _tell(self, wanted: str) -> None:
        """Before it is suspended in order to move, its place makes sure that nothing gets lost."""
        move = self.move
        is_moving = wanted == SUSPEND and move is not None and move.step is Step.STOPPING
        if is_moving and isinstance(self.backend, Packs):
            await self.backend.pack(self.record.handle_data)
            if self.record.wanted != wanted:
                return
        await super()._tell(wanted)

    def _has_lost_worker(self, change: Change) -> bool:
        """Whether it ends only because the worker that it ran on is gone."""
        phase = change.columns.get("phase")
        if not is_for_workers(self.record.backend) or self.record.wanted in ENDING:
            return False
        reason = str(change.columns.get("reason") or "")
        is_lost = cause_of_end(reason, {}) in (Cause.NODE_LOST, Cause.PREEMPTED)
        return phase == Phase.CANCELLED or (phase == Phase.FAILED and is_lost)

    async def give_up(self, reason: str, message: str) -> None:
        """End it, because its place cannot begin with it."""
        move = self.move
        if not self.has_begun and (move is None or move.step not in BETWEEN):
            await self._fail(reason, message)

    async def _fail(self, reason: str, message: str) -> None:
        """End it; one that its place does not take goes on to the next one, or back, instead."""
        if may_go_on(self.record):
            why = f"{self.record.backend} does not take it: {message}"
            await self.insist(lambda: onward(self, why))
        elif self._is_refused(self.move):
            await self.insist(lambda: self._turned_back(message))
        else:
            await super()._fail(reason, message)

    def _is_refused(self, move: Move | None) -> bool:
        """Whether it fails before its new place had a word to say of it."""
        is_arriving = move is not None and move.step is Step.ARRIVING
        return is_arriving and move is not None and self.record.journal_seq == move.seq

    def _turned_back(self, message: str) -> Change | None:
        move = self.move
        return self.going_back(move, message) if move and self._is_refused(move) else None

    def going_back(self, move: Move, message: str) -> Change:
        """What follows where the place that it was to go to does not take it."""
        said = f"{move.to.backend} does not take it, so it goes back: {message}"
        columns: dict[str, Any] = {
            "move": move.followed_by(Step.RETURNING).text(),
            "phase": Phase.PAUSED,
            "wanted": "",
            "reason": "",
            "message": said,
        }
        return Change(columns, [self.event("MoveRefused", said, kind="Warning")])

    def _refused(self, wanted: str, error: TrainwayError) -> Change | None:
        """A job that cannot be suspended does not move."""
        change = super()._refused(wanted, error)
        if (
            change is None
            or wanted != SUSPEND
            or self.move is None
            or "wanted" not in change.columns
        ):
            return change
        said = f"it stays at {self.record.backend}: {error.sentence}"
        event = self.event("MoveRefused", said, kind="Warning")
        return Change({**change.columns, "move": None}, [*change.events, event])
