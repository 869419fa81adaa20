"""Slows down whoever guesses tokens: only so many wrong ones a minute, from each address.

Some of these are left to requests that call the server by a name it knows, so that a page which
calls it by one of its own cannot use up those of the person in front of the browser.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

MOST_FAILURES: Final = 5
MOST_BY_OTHER_NAMES: Final = 2
"""How many of them may be of requests that call the server by a name it does not know."""
WINDOW_S: Final = 60.0
_MOST_ADDRESSES: Final = 1024


@dataclass(frozen=True)
class _Failure:
    time: float
    by_known_name: bool


class Throttle:
    """Counts what failed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, list[_Failure]] = OrderedDict()

    def wait_s(self, address: str, *, by_known_name: bool) -> float:
        """How long to wait until one may try again; 0: not at all."""
        recent = self._recent(address)
        waits = [self._wait_s(recent, MOST_FAILURES)]
        if not by_known_name:
            others = [failure for failure in recent if not failure.by_known_name]
            waits.append(self._wait_s(others, MOST_BY_OTHER_NAMES))
        return max(waits)

    def failed(self, address: str, *, by_known_name: bool) -> None:
        """Note a failure; those of the addresses heard of longest ago are forgotten first."""
        failure = _Failure(self._clock(), by_known_name)
        self._failures[address] = [*self._recent(address), failure]
        self._failures.move_to_end(address)
        while len(self._failures) > _MOST_ADDRESSES:
            self._failures.popitem(last=False)

    def _recent(self, address: str) -> list[_Failure]:
        since = self._clock() - WINDOW_S
        return [failure for failure in self._failures.get(address, []) if failure.time > since]

    def _wait_s(self, failures: Sequence[_Failure], most: int) -> float:
        if len(failures) < most:
            return 0.0
        return failures[-most].time + WINDOW_S - self._clock()
