"""Bounds what is read of a request into memory."""

from dataclasses import dataclass
from typing import Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trainway.server.paths import BASE_PATH

LARGEST: Final = 128 << 20
"""The most bytes a body may have: the files of a job that travel within its objects are 64 MB, in
base64."""
_STREAMED: Final = f"{BASE_PATH}/files"
"""The path whose bodies are written to the disk as they come."""


@dataclass(frozen=True)
class BodyLimit:
    """Refuses a body as soon as it is too large."""

    app: ASGIApp
    largest: int = LARGEST

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count what is read of its body."""
        if scope["path"] == _STREAMED:
            await self.app(scope, receive, send)
            return
        count = 0

        async def counted() -> Message:
            nonlocal count
            message = await receive()
            count += len(message.get("body", b""))
            if count > self.largest:
                raise HTTPException(
                    413, f"the body of a request may have at most {self.largest} bytes"
                )
            return message

        await self.app(scope, counted, send)
