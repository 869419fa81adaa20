"""Streams of a job: its changes and its logs."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

from fastapi import FastAPI, Header, Query
from fastapi.responses import StreamingResponse

from trainway.backends.base import LogQuery
from trainway.errors import UsageError
from trainway.server.models import LogParameters
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service
from trainway.server.sse import MEDIA_TYPE, stream
from trainway.server.streams import job_chunks, log_chunks

_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {MEDIA_TYPE: {}}, "description": "server-sent events"}
}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?", re.ASCII)
_SHOWN: Final = 40
"""Characters of a text that is wrong."""
_UNITS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def add_stream_routes(app: FastAPI, service: Service) -> None:
    """The routes below /jobs that stream."""
    reading = service.engine.reading

    @app.get(
        f"{BASE_PATH}/jobs/{{ref}}/watch",
        tags=["streams"],
        response_class=StreamingResponse,
        responses=_STREAM,
    )
    async def watch(ref: str) -> StreamingResponse:
        """The job, as an event `job`, now and after every change, until its end."""
        await reading.record(ref)
        return stream(job_chunks(reading, ref), service.stopping)

    @app.get(
        f"{BASE_PATH}/jobs/{{ref}}/logs",
        tags=["streams"],
        response_class=StreamingResponse,
        responses=_STREAM,
    )
    async def logs(
        ref: str,
        parameters: Annotated[LogParameters, Query()],
        last_event_id: Annotated[str, Header()] = "",
    ) -> StreamingResponse:
        """Lines that the job's containers wrote, as events `log`, then an event `end`.

        The id of an event is where to go on after a broken connection.
        """
        query = LogQuery(
            role=parameters.role,
            rank=parameters.rank,
            tail=parameters.tail,
            since=_since(parameters.since) if parameters.since else None,
            all_attempts=parameters.all_attempts,
            follow=parameters.follow,
            cursor=last_event_id,
        )
        await reading.check_logs(ref, query)
        return stream(log_chunks(reading, ref, query), service.stopping)


def _since(text: str) -> datetime:
    """The moment that a time or a duration means; one before all jobs stands for the beginning."""
    match = _DURATION.fullmatch(text)
    try:
        if match:
            number, unit = match.groups()
            return datetime.now(UTC) - timedelta(seconds=float(number) * _UNITS[unit or "s"])
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise UsageError(f"this time is too long ago: {text[:_SHOWN]!r}", field="since") from None
    except ValueError:
        hint = "write 10m, 2h or 2026-11-15T05:10:00Z"
        said = f"{text[:_SHOWN]!r} is not a time or a duration"
        raise UsageError(said, field="since", hint=hint) from None
