"""The short way of a report, which is the one request that comes by the hundred a second.

A report that is as it should be is taken here, for half of what it costs to find its route and to
solve what routes depend on. Whatever else a request is, the app gets it as if nobody had looked at
it, and says what is wrong with it.
"""

import re
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trainway.engine.jobs import Engine
from trainway.errors import TrainwayError
from trainway.server.json_answer import JsonAnswer
from trainway.server.json_body import strict_json
from trainway.server.models import Progress
from trainway.server.paths import BASE_PATH

_PATH: Final = re.compile(rf"{re.escape(BASE_PATH)}/jobs/([A-Za-z0-9.-]+)/progress")
_LARGEST: Final = 64 << 10
"""Bytes of a report that is taken here."""
_JSON: Final = (b"content-type", b"application/json")


@dataclass(frozen=True)
class ReportIntake:
    """Takes reports, and passes all other requests on to the app."""

    app: ASGIApp
    engine: Engine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a report at once."""
        job = _reporting_job(scope)
        if job is None:
            await self.app(scope, receive, send)
            return
        messages = await _messages(receive)
        answer = await self._answer(job, messages)
        if answer is not None:
            await answer(scope, receive, send)
            return

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        await self.app(scope, again, send)

    async def _answer(self, job: str, messages: list[Message]) -> JsonAnswer | None:
        if messages[-1]["type"] != "http.request" or messages[-1].get("more_body"):
            return None
        body = b"".join(message.get("body", b"") for message in messages)
        try:
            report = Progress.model_validate(strict_json(body))
            return JsonAnswer(await taken(self.engine, job, report))
        except (TrainwayError, ValidationError, ValueError):
            return None


async def taken(engine: Engine, job: str, report: Progress) -> dict[str, object]:
    """Note a report of a job; the answer to it."""
    shown = report.model_dump(exclude_none=True, by_alias=True)
    if report.trainer_status is not None:
        await engine.report_progress(job, shown["trainerStatus"])
    return shown


def _reporting_job(scope: Scope) -> str | None:
    """The job that a request reports for; None: it seems to be no report."""
    if scope["type"] != "http" or scope["method"] != "POST" or _JSON not in scope["headers"]:
        return None
    found = _PATH.fullmatch(scope["path"])
    return found[1] if found else None


async def _messages(receive: Receive) -> list[Message]:
    """The body, or its beginning if it is a large one."""
    messages, size = [await receive()], 0
    while messages[-1].get("more_body") and size <= _LARGEST:
        size += len(messages[-1]["body"])
        messages.append(await receive())
    return messages
