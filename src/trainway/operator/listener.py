"""Serves an aiohttp application on an address, with TLS where there is a certificate.

All servers of the operator (webhooks, status, metrics, health) start and stop in the same way.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

from aiohttp import web

_GRACE_SECONDS = 5.0
_IDLE_SECONDS = 120.0

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextlib.asynccontextmanager
async def listening(
    app: web.Application, host: str, port: int, context: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Serve until the block ends; gives the port, which matters where 0 was asked for.

    An empty host means all addresses.
    """
    app.middlewares.append(_part_quietly)
    runner = web.AppRunner(
        app, access_log=None, keepalive_timeout=_IDLE_SECONDS, shutdown_timeout=_GRACE_SECONDS
    )
    await runner.setup()
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
        await _close(runner)


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
