"""Counts the requests that the server answers, and how long it takes until an answer begins.

Streams last as long as somebody reads them, so the time to their first byte is what says something.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trainway.telemetry.metric import SHORT_S, Metric, counter, histogram
from trainway.telemetry.registry import OTHER, Registry

REQUESTS: Final = counter(
    "trainway_http_requests_total",
    "Requests to the server, by the status of the answer",
    *("method", "code"),
)
LATENCY: Final = histogram(
    "trainway_http_request_duration_seconds",
    "Time from a request until its answer begins",
    "method",
    buckets=SHORT_S,
)
REQUEST_METRICS: Final[tuple[Metric, ...]] = (REQUESTS, LATENCY)
_METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})


@dataclass
class RequestStatistics:
    """The numbers of one server."""

    clock: Callable[[], float] = time.perf_counter
    registry: Registry = field(default_factory=lambda: Registry(REQUEST_METRICS))

    def counted(self, app: ASGIApp) -> ASGIApp:
        """The app, with its answers counted."""

        async def counting(scope: Scope, receive: Receive, send: Send) -> None:
            began = self.clock()
            method = scope.get("method", "")
            method = method if method in _METHODS else OTHER

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    self.registry.add(REQUESTS, method, str(message["status"]))
                    self.registry.observe(LATENCY, method, value=self.clock() - began)
                await send(message)

            await app(scope, receive, noting)

        return counting
