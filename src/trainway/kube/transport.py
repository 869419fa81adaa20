"""What a request goes over: connections to the API server with our credentials on them.

Requests with a short answer go over connections of our own, which take half the time of aiohttp's.
aiohttp does the watches, logs and websockets, and everything where there is a proxy.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import orjson
from multidict import CIMultiDict
from yarl import URL

from trainway.kube.connection import Connection, Headers
from trainway.kube.errors import ServerUnavailable
from trainway.kube.http_answer import Answer
from trainway.kube.http_pool import CONNECT_S, IDLE_S, HttpPool, NotSentError, Server
from trainway.kube.kubeconfig import KubeconfigError
from trainway.kube.requests import Request

BROKEN: Final = (aiohttp.ClientError, OSError, orjson.JSONDecodeError)
"""What a request without a proper answer raises; TimeoutError is an OSError."""
NO_ANSWER: Final = "<error>"
"""What is counted instead of a status where there is none, as client-go does."""
_MOST_CONNECTIONS: Final = 600
"""How many connections there may be; streams of logs take one each."""
_GOODBYE_S: Final = 0.25
"""How long we wait at the end for a TLS server to answer aiohttp's goodbye."""


class Transport:
    """Sends single requests, without a second attempt."""

    def __init__(self, connection: Connection, user_agent: str, timeout: float) -> None:
        self.connection = connection
        self.host = connection.host
        self.sent = 0
        """How many requests were sent so far."""
        self.answers: Counter[tuple[str, str]] = Counter()
        """How many answers there were, by method and status, or `NO_ANSWER`."""
        self._user_agent = user_agent
        self._limit = aiohttp.ClientTimeout(total=timeout, sock_connect=CONNECT_S)
        self._path = urlsplit(connection.host).path
        self._opened: aiohttp.ClientSession | None = None
        self._pool = HttpPool(timeout)
        self._was_interrupted = False
        """Whether a request was cancelled before its answer, so that a connection may be left."""
        self._common: CIMultiDict[str] = CIMultiDict()
        self._common_text = b""
        self._common_of: Headers | None = None

    def start(self) -> None:
        """Get ready to send."""
        self._opened = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=_MOST_CONNECTIONS, keepalive_timeout=IDLE_S, ttl_dns_cache=60
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )

    async def close(self) -> None:
        """Close all connections."""
        session, self._opened = self._opened, None
        if session is not None:
            await self._pool.close()
            await session.close()
            if self._was_interrupted:
                await asyncio.sleep(_GOODBYE_S)

    async def identify(self) -> Headers:
        """Make sure of valid credentials; gives the headers that go out with them."""
        connection = self.connection
        if not connection.is_fresh:
            await connection.refresh()
        headers = connection.headers
        if headers is not self._common_of:
            self._common_of = headers
            own = (
                ("Host", urlsplit(self.host).netloc.rpartition("@")[2]),
                ("User-Agent", self._user_agent),
                ("Accept-Encoding", "identity"),
            )
            self._common = CIMultiDict([*own, *headers])
            self._common_text = _header_text(self._common)
        return headers

    async def exchange(self, request: Request) -> Answer:
        """Send a request once."""
        connection = self.connection
        if connection.proxy is None:
            if self._opened is None:
                raise RuntimeError("the client is not open")
            self.sent += 1
            server = Server(self.host, connection.ssl_context, connection.server_name)
            try:
                answer = await self._pool.request(server, self._text(request))
            except OSError:
                self.answers[request.method, NO_ANSWER] += 1
                raise
            self.answers[request.method, str(answer.status)] += 1
            return answer
        async with await self.open(request, self._limit) as response:
            body = await response.read()
            return Answer(response.status, body, response.headers.get("Retry-After"))

    def _text(self, request: Request) -> bytes:
        """A request as it goes over the wire."""
        body = request.body
        head = (
            f"{request.method} {self._path}{request.path} HTTP/1.1\r\nAccept: {request.accept}\r\n"
        )
        if body is None:
            return b"".join((head.encode("ascii"), self._common_text, b"\r\n"))
        head += f"Content-Type: {request.content}\r\nContent-Length: {len(body)}\r\n"
        return b"".join((head.encode("ascii"), self._common_text, b"\r\n", body))

    async def open(
        self, request: Request, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        """Send a request and give the answer once its head is there, to read on."""
        headers = self._common.copy()
        headers["Accept"] = request.accept
        if request.body is not None:
            headers["Content-Type"] = request.content
        try:
            response = await self._session().request(
                request.method,
                URL(self.host + request.path, encoded=True),
                data=request.body,
                headers=headers,
                allow_redirects=False,
                timeout=timeout,
                **self._options(),
            )
        except asyncio.CancelledError:
            self._was_interrupted = True
            raise
        except BROKEN:
            self.answers[request.method, NO_ANSWER] += 1
            raise
        self.answers[request.method, str(response.status)] += 1
        return response

    async def connect(self, path: str, protocols: Sequence[str]) -> aiohttp.ClientWebSocketResponse:
        """Open a websocket."""
        try:
            socket: aiohttp.ClientWebSocketResponse = await self._session().ws_connect(
                URL(self.host + path, encoded=True),
                protocols=protocols,
                headers=self._common.copy(),
                timeout=aiohttp.ClientWSTimeout(ws_close=_GOODBYE_S),
                max_msg_size=0,
                **self._options(),
            )
        except asyncio.CancelledError:
            self._was_interrupted = True
            raise
        return socket

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            raise RuntimeError("the client is not open")
        self.sent += 1
        return self._opened

    def _options(self) -> dict[str, Any]:
        """How the API server is reached, as aiohttp is told."""
        connection = self.connection
        options: dict[str, Any] = {
            "ssl": connection.ssl_context or True,
            "proxy": connection.proxy,
        }
        if connection.server_name:
            options["server_hostname"] = connection.server_name
        return options


def _header_text(headers: CIMultiDict[str]) -> bytes:
    text = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    if text.count("\n") != len(headers) or text.count("\r") != len(headers):
        raise KubeconfigError("the credentials contain a line break")
    return text.encode("latin-1")


def unreachable(host: str, cause: Exception) -> ServerUnavailable:
    """The error of a request that got no answer, or half of one."""
    if isinstance(cause, NotSentError) and isinstance(cause.__cause__, Exception):
        cause = cause.__cause__
    if isinstance(cause, aiohttp.ClientConnectorCertificateError):
        cause = cause.certificate_error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return ServerUnavailable(
            f"{host} presents a certificate that is not trusted: {cause.verify_message}",
            hint="check the certificate authority in the kubeconfig",
        )
    if isinstance(cause, orjson.JSONDecodeError):
        return ServerUnavailable(f"{host} does not answer in JSON: {cause}")
    if isinstance(cause, TimeoutError):
        return ServerUnavailable(f"{host} did not answer in time")
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return ServerUnavailable(f"no answer from {host}: {' '.join(str(text).split())}")


def was_not_sent(cause: Exception) -> bool:
    """Whether there was no connection, but may be one soon."""
    if isinstance(cause, NotSentError):
        return not isinstance(cause.__cause__, ssl.SSLError | TimeoutError)
    return isinstance(cause, aiohttp.ClientConnectorError) and not isinstance(
        cause, aiohttp.ClientSSLError
    )


def break_off(response: aiohttp.ClientResponse) -> None:
    """End a stream that has not ended: a polite goodbye would outlive the event loop."""
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()
