"""Server-sent events: any asynchronous iterator as a stream that a browser understands.

A comment now and then keeps the connection alive and shows when the reader is gone. When the server
stops, a stream breaks off without its last event, and its reader takes it up at the next server.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from starlette.responses import StreamingResponse

from trainway.server.json_answer import json_text

MEDIA_TYPE: Final = "text/event-stream"
_KEEP_ALIVE: Final = b": keep-alive\n\n"
_KEEP_ALIVE_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event; its data goes as JSON."""

    event: str
    data: object
    id: str = ""

    def encode(self) -> bytes:
        """The event's text, which JSON keeps on one line."""
        head = f"id: {self.id}\n" if self.id else ""
        return f"{head}event: {self.event}\ndata: {json_text(self.data)}\n\n".encode()


END: Final = ServerEvent("end", {})
"""The last event of a stream that has come to its end."""


def stream(chunks: AsyncIterator[bytes], stopping: asyncio.Event) -> StreamingResponse:
    """The answer to a request for a stream."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_kept_alive(chunks, stopping), media_type=MEDIA_TYPE, headers=headers)


async def _kept_alive(
    chunks: AsyncIterator[bytes], stopping: asyncio.Event
) -> AsyncIterator[bytes]:
    iterator = aiter(chunks)
    stopped = asyncio.ensure_future(stopping.wait())
    following = asyncio.ensure_future(anext(iterator))
    try:
        while True:
            waiting = {following, stopped}
            await asyncio.wait(waiting, timeout=_KEEP_ALIVE_S, return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                try:
                    chunk = following.result()
                except StopAsyncIteration:
                    return
                yield chunk
                following = asyncio.ensure_future(anext(iterator))
            elif stopped.done():
                return
            else:
                yield _KEEP_ALIVE
    finally:
        for task in (following, stopped):
            task.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await task
        aclose = getattr(iterator, "aclose", None)
        if aclose is not None:
            await aclose()
