"""A limit on requests per second: a bucket of tokens that fills steadily."""

import asyncio
import time
from collections.abc import Callable


class Throttle:
    """Lets `burst` requests through at once, and then `qps` each second, in the order they came."""

    def __init__(
        self, qps: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._qps = qps
        self._burst = max(burst, 1.0)
        self._clock = clock
        self._tokens = self._burst
        self._filled_at = clock()

    def reserve(self) -> float:
        """Take a token; gives the seconds to wait until it is there."""
        now = self._clock()
        gained = (now - self._filled_at) * self._qps
        self._tokens = min(self._burst, self._tokens + gained) - 1
        self._filled_at = now
        return max(0.0, -self._tokens / self._qps)

    async def wait(self) -> None:
        """Take a token, and wait for it."""
        seconds = self.reserve()
        if seconds > 0:
            await asyncio.sleep(seconds)
