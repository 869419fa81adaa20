"""Work that goes on beside, and that nobody may be waiting for."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from trainway.telemetry.log_subject import Fields, context_about

T = TypeVar("T")


class Background:
    """The tasks of one owner, which keeps them from being forgotten before they end."""

    def __init__(self, subject: Fields | None = None) -> None:
        self._subject = subject or {}
        """What the lines have that the tasks log."""
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Begin something."""
        task = asyncio.create_task(work, context=context_about(self._subject))
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def close(self) -> None:
        """End all of it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for the task has it; there may be nobody
