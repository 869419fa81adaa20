"""Rounds of the queue, one after the other.

Whatever may let a job start asks for a round. Several who ask while one is under way share the next
one, and a round that fails is played again until it succeeds.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from trainway.engine.backoff import Backoff
from trainway.errors import DatabaseError

log = logging.getLogger(__name__)


class Rounds:
    """Plays rounds when they are asked for."""

    def __init__(self, play: Callable[[], Awaitable[None]]) -> None:
        self._play = play
        self._next: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._again: asyncio.TimerHandle | None = None
        self._backoff = Backoff()
        self._is_closed = False

    def request(self) -> "asyncio.Future[None]":
        """Ask for a round; what is given is done when one was tried that began after this."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
            if self._is_closed:
                self._next.set_result(None)
            elif self._task is None or self._task.done():
                self._task = asyncio.create_task(self._run())
        return asyncio.shield(self._next)

    async def close(self) -> None:
        """Play no more."""
        self._is_closed = True
        if self._again is not None:
            self._again.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._next is not None:
            asked, self._next = self._next, None
            try:
                await self._play()
                self._backoff.reset()
            except DatabaseError as error:
                log.warning("nothing can be started: %s", error)
                self._try_again()
            except Exception:
                log.exception("a round of the queue failed")
                self._try_again()
            finally:
                asked.set_result(None)

    def _try_again(self) -> None:
        if self._again is not None:
            self._again.cancel()
        pause = self._backoff.next()
        self._again = asyncio.get_running_loop().call_later(pause, self.request)
