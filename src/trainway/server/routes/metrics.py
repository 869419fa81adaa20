"""What jobs have reported over time."""

from typing import Annotated, Final

from pydantic import Field
from starlette.responses import Response

from trainway.engine.metrics.downsampling import BUCKET_POINTS
from trainway.engine.metrics.store import POINTS_LIMIT, SERIES_LIMIT, Range
from trainway.errors import UsageError
from trainway.server.api import Api, Header, Query
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.moments import moment
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service
from trainway.server.sse import MEDIA_TYPE, stream
from trainway.server.streams import metric_chunks

_USUAL_RESOLUTION: Final = 1_000
_LARGEST_STEP: Final = 2**63 - 1
_DIGITS: Final = 18
"""The most digits that the number of a report may have."""

Step = Annotated[int | None, Query(ge=-_LARGEST_STEP, le=_LARGEST_STEP)]


class MetricPoint(Shown):
    """A value that was reported."""

    step: int | None
    epoch: float | None = Field(None, description="where one was reported")
    time: str
    value: float


class MetricSummary(Shown):
    """What a series came to."""

    last: float
    minimum: float
    maximum: float
    step: int | None = Field(description="of the last value")


class MetricHistory(Shown):
    """Series by name."""

    series: dict[str, list[MetricPoint]]
    summary: dict[str, MetricSummary] = Field(description="of all points, not only of the range")


def add_metric_routes(api: Api, service: Service) -> None:
    """The route below /jobs that gives the history."""
    metrics, reading = service.engine.metrics, service.engine.reading

    @api.get(f"{BASE_PATH}/jobs/{{ref}}/metrics", tags=["jobs"], response_model=MetricHistory)
    async def history(  # noqa: PLR0913, PLR0917 - one for each parameter
        ref: str,
        series: Annotated[list[str], Query(max_length=SERIES_LIMIT)] = [],  # noqa: B006 - it is copied
        min_step: Step = None,
        max_step: Step = None,
        since: str = "",
        until: str = "",
        resolution: Annotated[int, Query(ge=BUCKET_POINTS, le=POINTS_LIMIT)] = _USUAL_RESOLUTION,
        fields: str = "",
        system: bool = False,
        accept: Annotated[str, Header()] = "",
        last_event_id: Annotated[str, Header()] = "",
    ) -> Response:
        """What a job reported over time: at most `resolution` points of each series.

        `fields=summary` leaves the points out. `system=true` gives what the job used of its
        machines instead of what it reported.
        With `Accept: text/event-stream` events `points`: what is kept, and then what is new, until
        the job's end. The id of an event is where to go on after a broken connection.
        """
        if MEDIA_TYPE in accept:
            await reading.record(ref)
            chunks = metric_chunks(metrics, ref, _number(last_event_id), system=system)
            return stream(chunks, service.stopping)
        wanted = Range(
            min_step=min_step,
            max_step=max_step,
            min_time=moment(since).timestamp() if since else None,
            max_time=moment(until, "until").timestamp() if until else None,
        )
        most = None if fields == "summary" else resolution
        return JsonAnswer(await metrics.history(ref, series, wanted, most, system=system))


def _number(last: str) -> int:
    if not last:
        return 0
    if not (last.isascii() and last.isdecimal() and len(last) <= _DIGITS):
        raise UsageError(f"this is not a number: {last[:40]!r}", field="Last-Event-ID")
    return int(last)
