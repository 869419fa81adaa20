"""Tells those who watch a job that it has changed.

Nobody is told what changed: they look again. A watcher that is slow thus sees the newest state
instead of a backlog.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable


class Changes:
    """Counts the changes of each job."""

    def __init__(self, heard: Callable[[str], None] = lambda _job_id: None) -> None:
        self._heard = heard
        """Called with each job that has changed."""
        self._counts: defaultdict[str, int] = defaultdict(int)
        self._waiting: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)

    def count(self, job_id: str) -> int:
        """How many changes there were so far."""
        return self._counts.get(job_id, 0)

    def notify(self, job_id: str) -> None:
        """Wake all who wait for the job."""
        self._counts[job_id] += 1
        self._heard(job_id)
        for future in self._waiting.pop(job_id, ()):
            if not future.done():
                future.set_result(None)

    async def wait(self, job_id: str, seen: int, limit_s: float | None = None) -> int:
        """Wait until there are more changes than were seen, or the time is over; the new count."""
        if self.count(job_id) == seen:
            future = asyncio.get_running_loop().create_future()
            self._waiting[job_id].add(future)
            try:
                await asyncio.wait_for(future, limit_s)
            except TimeoutError:
                pass
            finally:
                self._forget(job_id, future)
        return self.count(job_id)

    def _forget(self, job_id: str, future: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(job_id)
        if waiting is not None:
            waiting.discard(future)
            if not waiting:
                del self._waiting[job_id]
