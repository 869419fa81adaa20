"""Answers that come in pieces and may never end, such as the log of a container that runs.

One request, without a second attempt: whoever reads knows best where to go on. Even the head of
such an answer may be long in coming: a kubelet sends it with the first line.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import aiohttp

from trainway.kube.errors import from_status
from trainway.kube.http_pool import CONNECT_S
from trainway.kube.requests import Request
from trainway.kube.transport import BROKEN, Transport, break_off, unreachable


class Stream:
    """The body of an answer."""

    def __init__(self, response: aiohttp.ClientResponse, host: str) -> None:
        self._response = response
        self._host = host

    async def piece(self) -> bytes:
        """What came since the last call, waiting for it; empty at the proper end."""
        try:
            return await self._response.content.readany()
        except BROKEN as broken:
            raise unreachable(self._host, broken) from None


@asynccontextmanager
async def opened(
    transport: Transport, request: Request, silence_s: float | None = None
) -> AsyncGenerator[Stream, None]:
    """Send a request, and give its answer to be read while it comes.

    If nothing comes for `silence_s` seconds, that is an error like a broken connection.
    """
    timeout = aiohttp.ClientTimeout(sock_connect=CONNECT_S, sock_read=silence_s)
    identity = await transport.identify()
    try:
        response = await transport.open(request, timeout)
    except BROKEN as broken:
        raise unreachable(transport.host, broken) from None
    async with response:
        if response.status >= 300:
            if response.status == 401:
                await transport.connection.refresh(identity)
            raise from_status(response.status, await _body(response, transport.host))
        try:
            yield Stream(response, transport.host)
        finally:
            break_off(response)


async def _body(response: aiohttp.ClientResponse, host: str) -> bytes:
    try:
        return await response.read()
    except BROKEN as broken:
        raise unreachable(host, broken) from None
