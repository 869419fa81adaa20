"""Submissions of schedules that are under way: one that hangs holds up no other, nor comes twice.

A place that does not answer may keep a submission for as long as it likes. Whoever waits for it
does so for a moment, and then goes on; the submission does too, and is not begun again meanwhile.
It is never given up in the middle, since it may be just about to be stored.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from trainway.engine.submission import Submission
from trainway.errors import UnavailableError
from trainway.json_types import Json

PATIENCE_S: Final = 2.0
"""How long a round of all schedules waits for one of them."""


class Submitting:
    """The submissions by their keys."""

    def __init__(
        self,
        submit: Callable[[Submission], Awaitable[Json]],
        ended: Callable[[], object],
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._submit = submit
        self._ended = ended
        self._patience_s = patience_s
        self._tasks: dict[str, asyncio.Task[Json]] = {}

    async def made(self, submission: Submission) -> Json:
        """The job; an UnavailableError while it is not there yet, and `ended` is called then."""
        key = submission.key
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(self._submitted(submission))
            await asyncio.wait([task], timeout=self._patience_s)
            if not task.done():
                task.add_done_callback(partial(self._late, key))
        if not task.done():
            raise UnavailableError(f"{submission.backend} has not answered yet")
        del self._tasks[key]
        return task.result()

    async def close(self) -> None:
        """Leave those that hang to the next server."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()

    async def _submitted(self, submission: Submission) -> Json:
        return await self._submit(submission)

    def _late(self, key: str, task: asyncio.Task[Json]) -> None:
        if task.cancelled():
            return
        if task.exception() is None:
            self._tasks.pop(key, None)  # the store has it; a failure is told to who asks again
        self._ended()
