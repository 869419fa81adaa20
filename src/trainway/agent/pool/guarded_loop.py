"""The event loop as one job sees it: an error in a callback ends that job, and not the loop."""

from __future__ import annotations

from trainway.agent.event_loop import EventLoop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.event_loop import Callback, Timer

    Guard = Callable[[Callback], object]


class GuardedLoop(EventLoop):
    """Passes everything on to another loop, with each callback in the hands of a guard."""

    def __init__(self, loop: EventLoop, guard: Guard) -> None:
        # Not that of the parent: there is but one loop that waits.
        self._loop = loop
        self._guard = guard

    def watch(
        self, fd: int, *, on_readable: Callback | None = None, on_writable: Callback | None = None
    ) -> None:
        """Call back when the file is ready."""
        self._loop.watch(
            fd, on_readable=self._guarded(on_readable), on_writable=self._guarded(on_writable)
        )

    def call_later(self, delay: float, callback: Callback) -> Timer:
        """Call back after so many seconds."""
        return self._loop.call_later(delay, lambda: self._guard(callback))

    def call_soon(self, callback: Callback) -> None:
        """Call back in the next turn."""
        self._loop.call_soon(lambda: self._guard(callback))

    def on_signal(self, number: int, callback: Callback) -> None:
        """Refused."""
        raise NotImplementedError("signals are for the whole process")

    def run(self) -> None:
        """Refused."""
        raise NotImplementedError("a job does not run the loop")

    def stop(self) -> None:
        """Refused."""
        raise NotImplementedError("a job does not stop the loop")

    def turn(self) -> None:
        """Refused."""
        raise NotImplementedError("a job does not turn the loop")

    def _guarded(self, callback: Callback | None) -> Callback | None:
        return None if callback is None else lambda: self._guard(callback)
