"""Several streams over one websocket, as exec and port-forward of a pod use it.

Each message begins with a byte that says which stream it belongs to. In version 5 of the protocol a
stream can be ended on its own, which is how a program learns of the end of its input; version 4, of
older clusters and of port-forward, cannot say that.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp

from trainway.kube.errors import ApiError, ServerUnavailable, from_status
from trainway.kube.requests import Request
from trainway.kube.transport import BROKEN, Transport, unreachable

STDIN: Final = 0
STDOUT: Final = 1
STDERR: Final = 2
ERROR: Final = 3
"""The channel on which exec sends a Status object at the end."""
RESIZE: Final = 4

V5: Final = "v5.channel.k8s.io"
V4: Final = "v4.channel.k8s.io"
_CLOSE: Final = 255
_LONGEST: Final = 1 << 16
"""The most bytes of a message; larger ones would keep the other streams waiting."""


class Channels:
    """An open websocket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, host: str) -> None:
        self._socket = socket
        self._host = host

    @property
    def can_end_input(self) -> bool:
        """Whether the other side can be told that its input is over."""
        return self._socket.protocol == V5

    async def send(self, channel: int, data: bytes) -> None:
        """Send bytes over one of the streams, waiting while the other side is busy."""
        head = bytes([channel])
        try:
            for begin in range(0, len(data), _LONGEST):
                await self._socket.send_bytes(head + data[begin : begin + _LONGEST])
        except BROKEN as broken:
            raise unreachable(self._host, broken) from None

    async def end_input(self) -> None:
        """Tell the other side that its input is over; without effect where that cannot be said."""
        if self.can_end_input:
            await self.send(_CLOSE, bytes([STDIN]))

    async def receive(self) -> tuple[int, bytes] | None:
        """The next bytes and their stream; None: there are no more."""
        while True:
            message = await self._socket.receive()
            match message.type:
                case aiohttp.WSMsgType.BINARY if message.data:
                    data: bytes = message.data
                    return data[0], data[1:]
                case aiohttp.WSMsgType.BINARY | aiohttp.WSMsgType.TEXT:
                    continue
                case aiohttp.WSMsgType.ERROR:
                    cause = message.data
                    if isinstance(cause, BROKEN):
                        raise unreachable(self._host, cause)
                    raise ServerUnavailable(f"{self._host} broke the connection: {cause}")
                case _:
                    return None


@asynccontextmanager
async def opened(
    transport: Transport, path: str, protocols: tuple[str, ...]
) -> AsyncGenerator[Channels, None]:
    """Connect; what the API server has against it is raised as of any request."""
    identity = await transport.identify()
    try:
        socket = await transport.connect(path, protocols)
    except aiohttp.WSServerHandshakeError as refused:
        if refused.status == 401:
            await transport.connection.refresh(identity)
        raise await _refusal(transport, path, refused) from None
    except BROKEN as broken:
        raise unreachable(transport.host, broken) from None
    async with socket:
        yield Channels(socket, transport.host)


async def _refusal(
    transport: Transport, path: str, refused: aiohttp.WSServerHandshakeError
) -> ApiError:
    """Why there is no websocket. aiohttp drops the text of the answer, so it is asked for again."""
    try:
        answer = await transport.exchange(Request("GET", path))
    except BROKEN as broken:
        return unreachable(transport.host, broken)
    if answer.status == refused.status:
        return from_status(answer.status, answer.body)
    return from_status(refused.status, {"message": f"cannot open a WebSocket: {refused.message}"})
