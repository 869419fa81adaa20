"""Submissions of schedules that are under way: one that hangs holds up no other, nor comes twice.

A place that does not answer may keep a submission for as long as it likes. Whoever waits for it
does so for a moment, and then goes on; the submission does too, and is not begun again meanwhile.
It is never given up in the middle, since it may be just about to be stored.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from trainway.engine.submission import Submission
from trainway.errors import UnavailableError
from trainway.json_types import Json

PATIENCE_S: Final = 2.0
"""How long a round of all schedules waits for one of them."""


@dataclass(frozen=True)
class _UnderWay:
    submission: Submission
    task: asyncio.Task[Json]


class Submitting:
    """The submissions, one for each owner: a second one would not know of the job of the first."""

    def __init__(
        self,
        submit: Callable[[Submission], Awaitable[Json]],
        ended: Callable[[], object],
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._submit = submit
        self._ended = ended
        self._patience_s = patience_s
        self._under_way: dict[str, _UnderWay] = {}
        """By owner."""

    def refuse_second(self, owner: str, key: str) -> None:
        """Raise an UnavailableError while a submission of the owner with another key goes on."""
        former = self._under_way.get(owner)
        if former is None or former.submission.key == key:
            return
        if not former.task.done():
            raise _unanswered(former.submission)
        del self._under_way[owner]  # it has failed, and nobody asks for it any more

    async def made(self, owner: str, submission: Submission) -> Json:
        """The job; an UnavailableError while it is not there yet, and `ended` is called then."""
        self.refuse_second(owner, submission.key)
        if owner not in self._under_way:
            task = asyncio.create_task(self._submitted(submission))
            self._under_way[owner] = _UnderWay(submission, task)
            await asyncio.wait([task], timeout=self._patience_s)
            if not task.done():
                task.add_done_callback(partial(self._late, owner))
        task = self._under_way[owner].task
        if not task.done():
            raise _unanswered(submission)
        del self._under_way[owner]
        return task.result()

    async def close(self) -> None:
        """Leave those that hang to the next server."""
        tasks = [each.task for each in self._under_way.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._under_way.clear()

    async def _submitted(self, submission: Submission) -> Json:
        return await self._submit(submission)

    def _late(self, owner: str, task: asyncio.Task[Json]) -> None:
        if task.cancelled():
            return
        if task.exception() is None:
            self._under_way.pop(owner, None)  # the store has it; a failure is told to who asks
        self._ended()


def _unanswered(submission: Submission) -> UnavailableError:
    return UnavailableError(f"{submission.backend} has not answered yet")
