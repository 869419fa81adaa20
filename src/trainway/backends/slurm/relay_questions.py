"""What a relay has been asked and not answered yet; each answer has the number of its question."""

import asyncio
from collections.abc import Awaitable, Callable

from trainway.errors import TrainwayError
from trainway.json_types import Json


class RelayQuestions:
    """The open questions by their numbers."""

    def __init__(self) -> None:
        self._open: dict[int, asyncio.Future[Json]] = {}
        self._count = 0

    @property
    def are_open(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._open)

    async def ask(self, send: Callable[[int], Awaitable[None]]) -> Json:
        """Send the question that has the next number, and wait for its answer."""
        self._count += 1
        number = self._count
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        try:
            await send(number)
            return await answer
        finally:
            self._open.pop(number, None)

    def answer(self, frame: Json) -> None:
        """An answer has come, maybe for somebody who no longer waits for it."""
        question = self._open.get(int(frame.get("request") or 0))
        if question is not None and not question.done():
            question.set_result(frame)

    def fail(self, error: Callable[[], TrainwayError]) -> None:
        """Nobody will be answered any more; each is told with an error of its own."""
        questions, self._open = self._open, {}
        for question in questions.values():
            if not question.done():
                question.set_exception(error())
                question.exception()  # it may be that nobody waits
