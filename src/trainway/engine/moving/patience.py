"""How long jobs wait at a place before they go on to the next one."""

import asyncio
from collections.abc import Callable

from trainway.engine.live import LiveJob
from trainway.engine.moving.candidates import (
    candidates_of,
    may_go_on,
    onward,
    waited_too_long,
)
from trainway.engine.phases import Phase
from trainway.engine.stored_job import Change
from trainway.jobset.status import moment


class Patience:
    """Calls jobs on whose time at a place is over."""

    def __init__(self, on_change: Callable[[LiveJob], object]) -> None:
        self._on_change = on_change
        """Called after a job was told to go on."""
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def look(self, live: LiveJob) -> None:
        """Begin to count for a job that waits, and stop for one that does not."""
        timer = self._timers.pop(live.id, None)
        if timer is not None:
            timer.cancel()
        left = self._left_s(live)
        if left is not None:
            loop = asyncio.get_running_loop()
            self._timers[live.id] = loop.call_later(left, self._on_time, live)

    def _left_s(self, live: LiveJob) -> float | None:
        found = candidates_of(live.record)
        is_waiting = may_go_on(live.record) and live.record.phase != Phase.PAUSED
        return found.left_s(moment(live.now())) if found and is_waiting else None

    def _on_time(self, live: LiveJob) -> None:
        self._timers.pop(live.id, None)
        if not live.over.is_set():
            live.background.spawn(self._go_on(live))

    async def _go_on(self, live: LiveJob) -> None:
        await live.insist(lambda: self._decided(live))
        self._on_change(live)

    def _decided(self, live: LiveJob) -> Change | None:
        found = candidates_of(live.record)
        if found is None or self._left_s(live) != 0:
            return None
        return onward(live, waited_too_long(live.record, found.max_wait_s or 0.0))
