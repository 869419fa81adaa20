"""One thread that waits for files, signals and moments.

Small on purpose: asyncio alone would take longer to import than an agent may take to start a job.
A callback that fails stops the loop; whoever runs it decides what becomes of the job.
"""

from __future__ import annotations

import heapq
import os
import selectors
import signal
import time
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Callable
    from typing import Protocol

    Callback = Callable[[], object]

    class Timetable(Protocol):
        """What a loop is for those who wait for moments only, and have no say over the process."""

        @abstractmethod
        def call_later(self, delay: float, callback: Callback) -> Timer:
            """Call back after so many seconds."""

        @abstractmethod
        def call_soon(self, callback: Callback) -> None:
            """Call back in the next turn."""


LONGEST_WAIT = 24 * 3600.0
"""Longer ones the selector refuses, at about 24 days; then the loop just turns once more."""

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class Timer:
    """A call that is still to come, unless it is cancelled."""

    def __init__(self, when: float, callback: Callback) -> None:
        self.when = when
        self._callback: Callback | None = callback

    def cancel(self) -> None:
        """Do not call."""
        self._callback = None

    @property
    def cancelled(self) -> bool:
        """Whether there is nothing to call any more."""
        return self._callback is None

    def run(self) -> None:
        """Call, once."""
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()

    def __lt__(self, other: Timer) -> bool:
        return self.when < other.when


class EventLoop:
    """Calls back when a file is ready, a signal came or a moment is there."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._timers: list[Timer] = []
        self._soon: deque[Callback] = deque()
        self._signals: dict[int, Callback] = {}
        self._stopped = False
        self._signal_read, self._signal_write = os.pipe()
        for fd in (self._signal_read, self._signal_write):
            os.set_blocking(fd, False)
        self.watch(self._signal_read, on_readable=self._on_signals)

    def watch(
        self, fd: int, *, on_readable: Callback | None = None, on_writable: Callback | None = None
    ) -> None:
        """Call back when the file is ready; replaces what was said about it before."""
        events = (_READ if on_readable else 0) | (_WRITE if on_writable else 0)
        known = fd in self._selector.get_map()
        if not events:
            if known:
                self._selector.unregister(fd)
            return
        callbacks = (on_readable, on_writable)
        if known:
            self._selector.modify(fd, events, callbacks)
        else:
            self._selector.register(fd, events, callbacks)

    def forget(self, fd: int) -> None:
        """Call back no more about a file."""
        self.watch(fd)

    def on_signal(self, number: int, callback: Callback) -> None:
        """Call back, in the loop, after a signal came."""
        self._signals[number] = callback
        signal.set_wakeup_fd(self._signal_write, warn_on_full_buffer=False)
        signal.signal(number, lambda _number, _frame: None)

    def call_later(self, delay: float, callback: Callback) -> Timer:
        """Call back after so many seconds."""
        timer = Timer(time.monotonic() + max(0.0, delay), callback)
        heapq.heappush(self._timers, timer)
        return timer

    def call_soon(self, callback: Callback) -> None:
        """Call back in the next turn."""
        self._soon.append(callback)

    def run(self) -> None:
        """Turn until `stop` is called."""
        while not self._stopped:
            self.turn()

    @property
    def stopped(self) -> bool:
        """Whether there is to be no further turn."""
        return self._stopped

    def stop(self) -> None:
        """End `run` after this turn."""
        self._stopped = True

    def turn(self) -> None:
        """Wait for what comes next, then make all calls that are due."""
        for key, ready in self._selector.select(self._patience()):
            on_readable, on_writable = key.data
            if ready & _READ and on_readable is not None and self._is_watched(key):
                on_readable()
            if ready & _WRITE and on_writable is not None and self._is_watched(key):
                on_writable()
        now = time.monotonic()
        while self._timers and self._timers[0].when <= now:
            heapq.heappop(self._timers).run()
        for _ in range(len(self._soon)):
            self._soon.popleft()()

    def _is_watched(self, key: selectors.SelectorKey) -> bool:
        """Whether no call before, in the same turn, has closed the file or changed its watch."""
        current = self._selector.get_map().get(key.fileobj)
        return current is not None and current.data is key.data

    def _patience(self) -> float | None:
        """How long to wait at most; None: until something happens."""
        if self._soon or self._stopped:
            return 0.0
        while self._timers and self._timers[0].cancelled:
            heapq.heappop(self._timers)
        if not self._timers:
            return None
        return min(max(0.0, self._timers[0].when - time.monotonic()), LONGEST_WAIT)

    def _on_signals(self) -> None:
        try:
            numbers = set(os.read(self._signal_read, 4096))
        except BlockingIOError:
            return
        for number in sorted(numbers):
            callback = self._signals.get(number)
            if callback is not None:
                callback()
