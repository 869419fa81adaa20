"""The stream that tells the dashboard which jobs have changed, so that nothing has to be polled.

    event: reset   data: {}                    the reader must read everything again
    event: jobs    data: {"jobs": ["id", …]}   these were created, have changed, or are gone

The id of an event is the position of the reader, who shows it after a broken connection. Every
stream begins with one, so that a reader has a position before anything happens.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trainway.engine.change_feed import ChangeFeed
from trainway.server.service import Service
from trainway.server.sse import ServerEvent, stream
from trainway.server.web.paths import EVENTS

_RETRY: Final = b"retry: 1000\n\n"
"""How long a browser waits before it takes up a broken stream, in milliseconds."""
_PACE_S: Final = 0.2
"""What changes within this time is told together."""


def events_route(service: Service) -> Route:
    """The address of the stream."""

    async def events(request: Request) -> Response:
        last = request.headers.get("last-event-id", "")
        return stream(change_chunks(service.engine.reading.feed, last), service.stopping)

    return Route(EVENTS, events)


async def change_chunks(
    feed: ChangeFeed, position: str, pace_s: float = _PACE_S
) -> AsyncIterator[bytes]:
    """What happens after a position, without end; without a position, from now on."""
    yield _RETRY
    position = position or feed.position
    is_first = True
    while True:
        changed, now = feed.since(position), feed.position
        if changed is None:
            yield ServerEvent("reset", {}, now).encode()
        elif changed or is_first:
            yield ServerEvent("jobs", {"jobs": changed}, now).encode()
        position, is_first = now, False
        await feed.wait(position)
        await asyncio.sleep(pace_s)
