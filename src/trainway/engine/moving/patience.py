"""How long jobs wait at a place before they go on to the next one."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

from trainway.engine.moving.candidates import (
    candidates_of,
    may_go_on,
    onward,
    waited_too_long,
)
from trainway.engine.moving.failover import failover_of
from trainway.engine.moving.move import Step
from trainway.engine.moving.recovered_job import RecoveredJob
from trainway.engine.phases import Phase
from trainway.engine.recovery.promise import PACE_S
from trainway.engine.recovery.strategy import next_look
from trainway.engine.stored_job import Change
from trainway.engine.times import left_s
from trainway.jobset.status import moment
from trainway.queueing.decision import IDLE

_LEAST_WAIT_S: Final = 1.0
"""How long a job that was lost is tried again at least before it is looked at."""

_HELD_S: Final = 10.0
"""After so long a job is looked at again that its queue holds, since no other place starts it."""


class Patience:
    """Calls jobs on whose time at a place is over."""

    def __init__(self, on_change: Callable[[RecoveredJob], object]) -> None:
        self._on_change = on_change
        """Called after a job was told to go on."""
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def look(self, live: RecoveredJob) -> None:
        """Begin to count for a job that waits, and stop for one that does not."""
        timer = self._timers.pop(live.id, None)
        if timer is not None:
            timer.cancel()
        found = (_left_s(live), _left_after_loss_s(live), _left_of_pace_s(live))
        left = [each for each in found if each is not None]
        if left:
            loop = asyncio.get_running_loop()
            self._timers[live.id] = loop.call_later(min(left), self._on_time, live)

    def _on_time(self, live: RecoveredJob) -> None:
        self._timers.pop(live.id, None)
        if not live.over.is_set():
            live.background.spawn(self._go_on(live))

    async def _go_on(self, live: RecoveredJob) -> None:
        await live.insist(lambda: _decided(live))
        self._on_change(live)


def _left_s(live: RecoveredJob) -> float | None:
    """How long it may still wait for its first start here; None: for ever."""
    found = candidates_of(live.record)
    is_waiting = may_go_on(live.record) and live.record.phase != Phase.PAUSED
    left = found.left_s(moment(live.now())) if found and is_waiting else None
    is_held = live.record.reason in IDLE and not live.has_begun
    return _HELD_S if left == 0 and is_held else left


def _left_after_loss_s(live: RecoveredJob) -> float | None:
    """How long a job whose place was lost stays where it is; None: until something happens."""
    now, move, found = moment(live.now()), live.move, failover_of(live.record)
    if move is not None and move.step is not Step.ARRIVING:
        is_later = bool(move.at) and moment(move.at) > now
        return _until(move.at, now) if is_later else None
    has_to_stay = live.record.phase in (Phase.RUNNING, Phase.PAUSED, Phase.STOPPING)
    if found is None or not found.since or has_to_stay or live.record.is_over or found.promise:
        return None
    look = next_look(found.situation(found.here(live.record), now))
    if not look:
        return None
    patience = left_s(moment(found.since), max(found.wait_s, _LEAST_WAIT_S), now)
    return max(patience, _until(look, now))


def _left_of_pace_s(live: RecoveredJob) -> float | None:
    """When a job with a deadline is looked at again; None: never."""
    found = failover_of(live.record)
    if found is None or found.promise is None or live.record.is_over:
        return None
    if live.record.phase == Phase.PAUSED and live.move is None:
        return None  # until somebody resumes it
    if found.promise.stage is not None and not live.has_begun:
        return PACE_S  # its turn has not come, which is no reason to go elsewhere
    checked = found.promise.checked or found.promise.began
    since = (moment(live.now()) - moment(checked)).total_seconds()
    return max(PACE_S - since, 0.0) if live.move is None else PACE_S


def _until(time: str, now: datetime) -> float:
    return max((moment(time) - now).total_seconds(), 0.0)


def _decided(live: RecoveredJob) -> Change | None:
    found = candidates_of(live.record)
    if found is not None and _left_s(live) == 0:
        return onward(live, waited_too_long(live.record, found.max_wait_s or 0.0))
    if _left_after_loss_s(live) == 0 and (live.move is None or live.move.step is Step.ARRIVING):
        return live.impatient()
    return live.on_schedule() if _left_of_pace_s(live) == 0 else None
