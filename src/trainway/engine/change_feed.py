"""What has changed of all jobs, for those who watch all of them.

The feed knows which jobs changed lately, and not how: whoever is told looks again. A job that
changes often stands in it once, and it holds so many jobs at most, so that a reader may be as slow
as it likes: one that is too far behind reads everything again. A position says also which server it
is of, since the next one does not know what happened before.
"""

import asyncio
import secrets
from collections.abc import Callable
from typing import Final

MOST: Final = 1000
"""How many jobs it holds."""


class ChangeFeed:
    """The jobs that changed lately, in the order of their last changes."""

    def __init__(
        self, most: int = MOST, name: Callable[[], str] = lambda: secrets.token_hex(6)
    ) -> None:
        self._most = most
        self._name = name()
        self._count = 0
        self._forgotten = 0
        """The number of the last change that is no longer known."""
        self._changes: dict[str, int] = {}
        """The number of the last change of each job, lowest first."""
        self._waiting: set[asyncio.Future[None]] = set()

    def note(self, job_id: str) -> None:
        """A job was created, has changed, or is gone."""
        self._count += 1
        self._changes.pop(job_id, None)
        self._changes[job_id] = self._count
        if len(self._changes) > self._most:
            oldest = next(iter(self._changes))
            self._forgotten = self._changes.pop(oldest)
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    @property
    def position(self) -> str:
        """The position after all that has happened."""
        return f"{self._name}-{self._count}"

    def since(self, position: str) -> list[str] | None:
        """The jobs that changed after a position; None: that is not known."""
        name, _, number = position.rpartition("-")
        is_number = number.isascii() and number.isdecimal() and len(number) < 19
        if name != self._name or not is_number:
            return None
        seen = int(number)
        if not self._forgotten <= seen <= self._count:
            return None
        found = []
        for job_id in reversed(self._changes):
            if self._changes[job_id] <= seen:
                break
            found.append(job_id)
        return found[::-1]

    async def wait(self, position: str) -> None:
        """Wait until there is more than there was at a position."""
        if position != self.position:
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)
