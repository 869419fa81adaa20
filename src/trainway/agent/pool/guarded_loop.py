"""The event loop as one job sees it: an error in a callback ends that job, and not the loop."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.event_loop import Callback, Timer, Timetable

    Guard = Callable[[Callback], object]


class GuardedLoop:
    """Passes what a job may ask for on to a loop, with each callback in the hands of a guard."""

    def __init__(self, loop: Timetable, guard: Guard) -> None:
        self._loop = loop
        self._guard = guard

    def call_later(self, delay: float, callback: Callback) -> Timer:
        """Call back after so many seconds."""
        return self._loop.call_later(delay, lambda: self._guard(callback))

    def call_soon(self, callback: Callback) -> None:
        """Call back in the next turn."""
        self._loop.call_soon(lambda: self._guard(callback))
