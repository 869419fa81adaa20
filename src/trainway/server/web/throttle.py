"""Slows down whoever guesses tokens: only so many wrong ones a minute, from each address."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

MOST_FAILURES: Final = 5
WINDOW_S: Final = 60.0
_MOST_ADDRESSES: Final = 1024


class Throttle:
    """Counts what failed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, list[float]] = OrderedDict()

    def wait_s(self, address: str) -> float:
        """How long to wait until one may try again; 0: not at all."""
        recent = self._recent(address)
        if len(recent) < MOST_FAILURES:
            return 0.0
        return recent[-MOST_FAILURES] + WINDOW_S - self._clock()

    def failed(self, address: str) -> None:
        """Note a failure; those of the addresses heard of longest ago are forgotten first."""
        self._failures[address] = [*self._recent(address), self._clock()]
        self._failures.move_to_end(address)
        while len(self._failures) > _MOST_ADDRESSES:
            self._failures.popitem(last=False)

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - WINDOW_S
        return [time_ for time_ in self._failures.get(address, []) if time_ > since]
