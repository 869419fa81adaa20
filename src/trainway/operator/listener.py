"""Serves an aiohttp application on an address, with TLS where there is a certificate.

All servers of the operator (webhooks, status, metrics, health) start and stop in the same way. Any
pod of the cluster can connect to them, so whoever does not ask for anything is left after a while,
and at once where there are too many of them.
"""

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

_GRACE_SECONDS = 10.0
"""How long requests may take at the end: as long as the API server waits for an answer of a
webhook."""
_PARTING_SECONDS = 2.0
"""In this time clients that keep a connection hear, with an answer, to use another one."""
_IDLE_SECONDS = 120.0
_HEAD_SECONDS = 10.0
"""In this time a new connection has to ask for something."""
_LOOK_SECONDS = 1.0
_BETWEEN_LOOKS_SECONDS = 0.05
_MOST_SILENT = 256

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextlib.asynccontextmanager
async def listening(
    app: web.Application, host: str, port: int, context: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Serve until the block ends; gives the port, which matters where 0 was asked for.

    An empty host means all addresses.
    """
    silence, parting = _Silence(), _Parting()
    app.middlewares.extend([silence.broken, parting.told, _part_quietly])
    runner = web.AppRunner(
        app, access_log=None, keepalive_timeout=_IDLE_SECONDS, shutdown_timeout=_GRACE_SECONDS
    )
    await runner.setup()
    watch = asyncio.create_task(silence.watch(runner))
    try:
        site = web.TCPSite(
            runner,
            host or None,
            port,
            ssl_context=context,
            reuse_address=True,
        )
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await parting.wait(runner)
        watch.cancel()
        await _close(runner)


class _Silence:
    """Which connections have not asked for anything yet, and since when."""

    def __init__(self) -> None:
        self._since: dict[asyncio.Transport, float] = {}
        self._spoke: set[asyncio.BaseTransport] = set()

    @property
    def broken(self) -> Middleware:
        """The middleware that hears who asks."""

        @web.middleware
        async def hear(request: web.Request, handler: Handler) -> web.StreamResponse:
            if request.transport is not None:
                self._spoke.add(request.transport)
            return await handler(request)

        return hear

    async def watch(self, runner: web.AppRunner) -> None:
        """Look at all connections again and again."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            found = list(runner.server.connections) if runner.server else []
            self.look([one.transport for one in found if one.transport is not None])

    def look(self, transports: list[asyncio.Transport]) -> None:
        """End those that have been silent for too long, and the oldest of too many."""
        now = time.monotonic()
        self._spoke &= set(transports)
        silent = [one for one in transports if one not in self._spoke]
        self._since = {one: self._since.get(one, now) for one in silent}
        silent.sort(key=self._since.__getitem__)
        surplus = len(silent) - _MOST_SILENT
        for number, transport in enumerate(silent):
            if number < surplus or now - self._since[transport] >= _HEAD_SECONDS:
                transport.abort()


class _Parting:
    """Has clients give up the connections that they keep, before these are closed.

    A client may send a request at the very moment at which its connection is closed, and no answer
    comes; the API server then refuses the object that it has asked about.
    """

    def __init__(self) -> None:
        self._is_near = False

    @property
    def told(self) -> Middleware:
        """The middleware that says so in every answer."""

        @web.middleware
        async def tell(request: web.Request, handler: Handler) -> web.StreamResponse:
            answer = await handler(request)
            if self._is_near:
                answer.force_close()
            return answer

        return tell

    async def wait(self, runner: web.AppRunner) -> None:
        """Answer for a while longer, unless nobody keeps a connection."""
        self._is_near = True
        end = time.monotonic() + _PARTING_SECONDS
        while runner.server and runner.server.connections and time.monotonic() < end:
            await asyncio.sleep(_BETWEEN_LOOKS_SECONDS)


@web.middleware
async def _part_quietly(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Whoever hangs up in the middle of a request is no error of ours."""
    try:
        return await handler(request)
    except ConnectionResetError:
        return web.Response(status=400)  # which nobody reads


async def _close(runner: web.AppRunner) -> None:
    """Finish requests that run; clients that keep a connection open are not waited for."""
    connections = list(runner.server.connections) if runner.server else []
    transports = [connection.transport for connection in connections]
    await runner.cleanup()
    for transport in transports:
        if transport is not None:
            transport.abort()
    await asyncio.sleep(0)
