"""Keys that wait to be worked on.

A key waits only once however often it is added, and is never worked on twice at the same time:
added meanwhile, it comes again afterwards. What just happened goes before what is looked at once
more, and a key that fails comes back later each time.
"""

import asyncio
import heapq
import itertools
import random
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from trainway.kube.backoff import Backoff

BACKOFF: Final = Backoff(first=0.005, longest=1000.0)
_FRESH_IN_A_ROW: Final = 16
"""After so many fresh keys one of the others has its turn, so that it does not wait for ever."""


class WorkQueue:
    """A queue of keys for any number of workers on one loop."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
        backoff: Backoff = BACKOFF,
    ) -> None:
        self._clock = clock
        self._chance = chance
        self._backoff = backoff
        self._fresh: OrderedDict[str, float] = OrderedDict()
        self._others: OrderedDict[str, float] = OrderedDict()
        self._working: dict[str, float] = {}
        """Since when each key is worked on."""
        self.adds = 0
        self.retries = 0
        self.on_taken: Callable[[float], None] = lambda _seconds: None
        """Called with the time that a key has waited, when it is taken."""
        self._again: dict[str, bool] = {}
        """The keys that were added while they were worked on, and whether they were fresh."""
        self._failures: dict[str, int] = {}
        self._delayed: list[tuple[float, int, str]] = []
        self._due: dict[str, float] = {}
        """When a delayed key comes; entries of the heap that say otherwise are void."""
        self._numbers = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = 0.0
        self._takers: deque[asyncio.Future[None]] = deque()
        self._in_a_row = 0

    @property
    def depth(self) -> int:
        """Keys that wait, without delayed ones."""
        return len(self._fresh) + len(self._others)

    @property
    def delayed(self) -> int:
        """Keys that come later."""
        return len(self._due)

    @property
    def working(self) -> int:
        """Keys that are worked on."""
        return len(self._working)

    def oldest_age(self) -> float:
        """Seconds that the first in the queue has waited."""
        firsts = [next(iter(queue.values())) for queue in (self._fresh, self._others) if queue]
        return self._clock() - min(firsts) if firsts else 0.0

    def ages_of_work(self) -> list[float]:
        """Seconds that each key has been worked on so far."""
        now = self._clock()
        return [now - since for since in self._working.values()]

    def add(self, key: str, *, fresh: bool = True) -> None:
        """Let the key be worked on; `fresh`: before those that are not."""
        if key in self._working:
            self._again[key] = fresh or self._again.get(key, False)
            return
        if key in self._fresh:
            return
        if fresh:
            self.adds += key not in self._others
            self._fresh[key] = self._others.pop(key, self._clock())
        elif key not in self._others:
            self.adds += 1
            self._others[key] = self._clock()
        else:
            return
        self._wake()

    def add_after(self, key: str, seconds: float) -> None:
        """Add the key later; of several times the earliest counts."""
        if seconds <= 0:
            self.add(key, fresh=False)
            return
        due = self._clock() + seconds
        if due >= self._due.get(key, float("inf")):
            return
        self._due[key] = due
        heapq.heappush(self._delayed, (due, next(self._numbers), key))
        self._set_timer()

    def retry(self, key: str) -> float:
        """Add the key after a pause that doubles each time; gives the pause."""
        self.retries += 1
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        pause = self._backoff.pause(failures, self._chance)
        self.add_after(key, pause)
        return pause

    def failures(self, key: str) -> int:
        """How often the key was retried since it was forgotten."""
        return self._failures.get(key, 0)

    def forget(self, key: str) -> None:
        """The key is well: its next failure is the first."""
        self._failures.pop(key, None)

    async def take(self) -> str:
        """The next key, which then is worked on until `done`."""
        while True:
            self._release_due()
            key = self._next()
            if key is not None:
                self._working[key] = self._clock()
                return key
            taker = asyncio.get_running_loop().create_future()
            self._takers.append(taker)
            try:
                await taker
            except asyncio.CancelledError:
                if taker.done() and not taker.cancelled():
                    self._wake()  # the key that woke us is for another one
                with suppress(ValueError):  # passed over by then
                    self._takers.remove(taker)
                raise

    def done(self, key: str) -> None:
        """The key is not worked on any more."""
        self._working.pop(key, None)
        if key in self._again:
            self.add(key, fresh=self._again.pop(key))

    def close(self) -> None:
        """Forget what is to come later."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._delayed.clear()
        self._due.clear()

    def _next(self) -> str | None:
        others_first = bool(self._others) and self._in_a_row >= _FRESH_IN_A_ROW
        if self._fresh and not others_first:
            self._in_a_row += 1
            return self._taken(self._fresh)
        self._in_a_row = 0
        return self._taken(self._others) if self._others else None

    def _taken(self, queue: OrderedDict[str, float]) -> str:
        key, since = queue.popitem(last=False)
        self.on_taken(self._clock() - since)
        return key

    def _wake(self) -> None:
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(None)
                return

    def _release_due(self) -> None:
        now = self._clock()
        while self._delayed and self._delayed[0][0] <= now:
            due, _, key = heapq.heappop(self._delayed)
            if self._due.get(key) == due:
                del self._due[key]
                self.add(key, fresh=False)
        self._set_timer()

    def _set_timer(self) -> None:
        if not self._delayed:
            return
        due = self._delayed[0][0]
        if self._timer is not None:
            if self._timer_due == due:
                return
            self._timer.cancel()
        seconds = max(0.0, due - self._clock())
        self._timer_due = due
        self._timer = asyncio.get_running_loop().call_later(seconds, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._release_due()
