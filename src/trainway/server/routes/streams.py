"""Streams of a job: its changes and its logs."""

from typing import Annotated, Any, Final

from starlette.responses import StreamingResponse

from trainway.backends.base import LogQuery
from trainway.server.api import Api, Header, Query
from trainway.server.models import LogParameters
from trainway.server.moments import moment
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service
from trainway.server.sse import MEDIA_TYPE, stream
from trainway.server.streams import job_chunks, log_chunks

_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {MEDIA_TYPE: {}}, "description": "server-sent events"}
}


def add_stream_routes(api: Api, service: Service) -> None:
    """The routes below /jobs that stream."""
    reading = service.engine.reading

    @api.get(
        f"{BASE_PATH}/jobs/{{ref}}/watch",
        tags=["streams"],
        response_class=StreamingResponse,
        responses=_STREAM,
    )
    async def watch(ref: str) -> StreamingResponse:
        """The job, as an event `job`, now and after every change, until its end."""
        await reading.record(ref)
        return stream(job_chunks(reading, ref), service.stopping)

    @api.get(
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
            since=moment(parameters.since) if parameters.since else None,
            all_attempts=parameters.all_attempts,
            follow=parameters.follow,
            cursor=last_event_id,
        )
        await reading.check_logs(ref, query)
        return stream(log_chunks(reading, ref, query), service.stopping)
