"""Short requests over HTTP/1.1 connections that stay open.

Requests are half of what an operator does. aiohttp takes 0.4 ms of processor for one, this 0.2: it
knows only what an API server sends, a head and a body of known length or in chunks. Watches and
proxies are left to aiohttp.
"""

import asyncio
import ssl
import time
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from trainway.kube.http_answer import Answer, AnswerReader, MalformedAnswerError

IDLE_S: Final = 30.0
"""An idle connection is closed before a load balancer may do so in silence."""
CONNECT_S: Final = 10.0
_CLOSE_S: Final = 2.0
_MOST_CONNECTIONS: Final = 100


class NotSentError(OSError):
    """There was no connection, so nothing was sent; `__cause__` says why."""


class Server(NamedTuple):
    """Where to connect to; connections are shared as long as this stays the same."""

    url: str
    ssl_context: ssl.SSLContext | None = None
    server_name: str | None = None


class HttpPool:
    """Connections to one server, each used for one request at a time."""

    def __init__(self, timeout: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._timeout = timeout
        self._clock = clock
        self._server: Server | None = None
        self._idle: list[tuple[_Exchange, float]] = []
        self._connecting: set[asyncio.Task[_Exchange]] = set()
        self._room = asyncio.Semaphore(_MOST_CONNECTIONS)

    async def request(self, server: Server, text: bytes) -> Answer:
        """Send a request, head and body, and give the answer.

        NotSentError: there was no connection. Any other OSError, such as TimeoutError: the request
        may have been executed.
        """
        async with self._room:
            exchange = self._take(server) or await self._connect(server)
            try:
                answer = await exchange.run(text, self._timeout)
            except BaseException:
                exchange.abort()
                raise
            self._give_back(server, exchange)
            return answer

    async def close(self) -> None:
        """Close idle connections, and those that nobody waits for any more."""
        self._server = None
        self._drop_idle()
        if self._connecting:
            await asyncio.wait(self._connecting, timeout=_CLOSE_S)
        await asyncio.sleep(0)  # their transports end in the next round of the loop

    def _take(self, server: Server) -> "_Exchange | None":
        """The connection that was used last, if it can be used now."""
        if server != self._server:
            self._drop_idle()
            self._server = server
        while self._idle:
            exchange, since = self._idle.pop()
            if exchange.is_reusable and self._clock() - since < IDLE_S:
                return exchange
            exchange.abort()
        return None

    async def _connect(self, server: Server) -> "_Exchange":
        """A new connection.

        Whoever is cancelled meanwhile leaves it to others: asyncio loses a socket whose handshake
        is cancelled.
        """
        task = asyncio.create_task(_connected(server))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(lambda done: self._adopt(server, done))
            raise

    def _adopt(self, server: Server, task: "asyncio.Task[_Exchange]") -> None:
        if not task.cancelled() and task.exception() is None:
            self._give_back(server, task.result())

    def _give_back(self, server: Server, exchange: "_Exchange") -> None:
        if exchange.is_reusable and server == self._server:
            self._idle.append((exchange, self._clock()))
        else:
            exchange.abort()

    def _drop_idle(self) -> None:
        while self._idle:
            self._idle.pop()[0].abort()


async def _connected(server: Server) -> "_Exchange":
    parts = urlsplit(server.url)
    context = server.ssl_context
    try:
        async with asyncio.timeout(2 * CONNECT_S):
            _, exchange = await asyncio.get_running_loop().create_connection(
                _Exchange,
                parts.hostname or "",
                parts.port or (443 if context else 80),
                ssl=context,
                server_hostname=(server.server_name or parts.hostname) if context else None,
                ssl_handshake_timeout=CONNECT_S if context else None,
                happy_eyeballs_delay=0.25,
            )
    except OSError as error:  # TimeoutError is one
        raise NotSentError(error.errno, error.strerror or str(error)) from error
    return exchange


class _Exchange(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._reader = AnswerReader()
        self._waiter: asyncio.Future[Answer] | None = None
        self._is_kept = True

    @property
    def is_reusable(self) -> bool:
        """Whether the connection can take a request."""
        return (
            self._is_kept
            and self._waiter is None
            and self._transport is not None
            and not self._transport.is_closing()
        )

    async def run(self, text: bytes, timeout: float) -> Answer:
        """Send a request and wait for its answer."""
        transport = self._transport
        if transport is None:
            raise ConnectionResetError("the connection is closed")
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Answer] = loop.create_future()
        self._waiter = waiter
        timer = loop.call_later(timeout, self._fail, TimeoutError("no answer in time"))
        try:
            transport.write(text)
            return await waiter
        finally:
            timer.cancel()
            self._waiter = None

    def abort(self) -> None:
        """Close at once: a polite goodbye would outlive the event loop."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - create_connection makes no other
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:
            self._is_kept = False  # an answer to no request
            return
        try:
            answer = self._reader.feed(data)
        except MalformedAnswerError as error:
            self._fail(error)
            return
        if answer is not None:
            self._finish(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_kept = False
        self._transport = None
        if self._waiter is None:
            return
        answer = None if exc else self._reader.end()
        if answer is not None:
            self._finish(answer)
        else:
            self._fail(exc or ConnectionResetError("the server closed the connection"))

    def _finish(self, answer: Answer) -> None:
        self._is_kept = self._is_kept and answer.keeps_connection
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(answer)

    def _fail(self, error: Exception) -> None:
        self._is_kept = False
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)
