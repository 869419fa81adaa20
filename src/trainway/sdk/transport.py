"""HTTP to the server, over a unix socket or TCP, with streams that survive a broken connection.

Where nothing listens, `wake` is asked for an address that answers.
"""

import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, urlencode

from trainway.errors import NotFoundError, UnavailableError
from trainway.sdk.address import Address
from trainway.sdk.failures import from_response
from trainway.sdk.http_exchange import BrokenAnswerError, Exchange
from trainway.sdk.sse import ServerEvent, read_events

BASE_PATH: Final = "/api/v1"
TIMEOUT_S: Final = 120.0

Query = Mapping[str, str | int | bool | list[str] | None]
"""The parameters of a request; a list stands for its items, each under the same name."""

_NOBODY_LISTENS: Final = (ConnectionRefusedError, FileNotFoundError, NotADirectoryError)
_BROKEN: Final = (OSError, BrokenAnswerError)
_WHERE: Final = "check the address; trainway server start --listen HOST:PORT starts a server there"
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 1.0
_LONGEST_WAIT_S: Final = 365 * 86_400.0
_ATTEMPTS: Final = 3
"""How often a request is sent, since a server that ends or is killed loses what it was asked. Only
reading may be repeated, and what has a key by which the server knows it again."""
_MOST_FAILURES: Final = 20
"""Attempts to take up a stream again, with nothing received between them: about 15 seconds."""


class StreamControl:
    """Ends a stream from outside: at a time, or from another thread."""

    def __init__(self, deadline: float | None = None) -> None:
        self._deadline = deadline
        self._stopped = False
        self._socket: socket.socket | None = None

    def stop(self) -> None:
        """End the stream now, also while somebody waits for its next event."""
        self._stopped = True
        if self._socket is not None:
            with suppress(OSError):  # closed already
                self._socket.shutdown(socket.SHUT_RDWR)

    def is_over(self) -> bool:
        """Whether the stream has been stopped, or its time is over."""
        return self._stopped or (self._deadline is not None and time.monotonic() >= self._deadline)

    def time_left(self) -> float | None:
        """Seconds until the deadline, as far as a socket can wait; None: no end."""
        if self._deadline is None:
            return None
        return min(max(0.001, self._deadline - time.monotonic()), _LONGEST_WAIT_S)

    def reader(self, exchange: Exchange) -> Callable[[int], bytes]:
        """Reads some bytes of the answer, and none once the stream is over."""
        self._socket = exchange.socket

        def read(size: int) -> bytes:
            if self.is_over():
                return b""
            if self._deadline is not None:
                exchange.socket.settimeout(self.time_left())
            return exchange.read1(size)

        return read


class Transport:
    """Sends requests to one server. Threads may share it: every request has its own connection."""

    def __init__(
        self,
        address: Address,
        wake: Callable[[], Address] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._address = address
        self._wake = wake
        self._sleep = sleep

    @property
    def address(self) -> Address:
        """The server spoken to."""
        return self._address

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        key: str = "",
        timeout: float | None = TIMEOUT_S,
        attempts: int = _ATTEMPTS,
    ) -> Any:
        """Send a request and give the JSON of the answer; an error of the server is raised."""
        headers = {"Idempotency-Key": key} if key else {}
        for attempt in range(attempts if key or method == "GET" else 1):
            if attempt:
                self._sleep(_FIRST_PAUSE_S)
            try:
                answer, status = self._exchange(method, path, query, body, headers, timeout)
                break
            except _BROKEN as error:
                broken = error
        else:
            raise self._unavailable(broken) from broken
        return self._content(answer, status)

    def upload(self, path: str, pieces: Iterable[bytes], length: int) -> Any:
        """Post a body that is not held as a whole, once, and give the JSON of the answer."""
        headers = {"Content-Type": "application/octet-stream", **self._headers({})}
        try:
            exchange = self._connected(TIMEOUT_S)
            try:
                exchange.send_pieces(_url(path, None), headers, pieces, length)
                answer, status = exchange.read(), exchange.status
            finally:
                exchange.close()
        except _BROKEN as error:
            raise self._unavailable(error) from error
        return self._content(answer, status)

    def _content(self, answer: bytes, status: int) -> Any:
        if status >= 400:
            raise from_response(status, answer)
        try:
            return json.loads(answer) if answer else None
        except ValueError:
            raise UnavailableError(f"{self._address} is not a Trainway server") from None

    def stream(
        self,
        path: str,
        *,
        query: Query | None = None,
        is_over: Callable[[], bool] = lambda: False,
        control: StreamControl | None = None,
    ) -> Iterator[ServerEvent]:
        """The events of a stream; a broken connection is taken up again after the last event.

        A reader who knows the last event stops there. `is_over` is asked when a stream just ends.
        """
        control = control or StreamControl()
        last_id, failures = "", 0
        while not control.is_over():
            cause: Exception | None = None
            try:
                for event in self._events(path, query, last_id, control):
                    failures, last_id = 0, event.id or last_id
                    yield event
            except _BROKEN as error:
                cause = error
            if control.is_over() or (cause is None and is_over()):
                return
            failures += 1
            if failures > _MOST_FAILURES:
                raise self._unavailable(cause) from cause
            self._sleep(min(_FIRST_PAUSE_S * 2 ** (failures - 1), _LONGEST_PAUSE_S))

    def _events(
        self, path: str, query: Query | None, last_id: str, control: StreamControl
    ) -> Iterator[ServerEvent]:
        headers = {"Accept": "text/event-stream"}
        if last_id:
            headers["Last-Event-ID"] = last_id
        timeout = control.time_left()
        exchange = self._open("GET", path, query, headers=headers, timeout=timeout)
        try:
            if exchange.status >= 400:
                raise from_response(exchange.status, exchange.read())
            yield from read_events(control.reader(exchange))
        finally:
            exchange.close()

    def _exchange(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: object,
        headers: Mapping[str, str],
        timeout: float | None,
    ) -> tuple[bytes, int]:
        exchange = self._open(method, path, query, body, headers=headers, timeout=timeout)
        try:
            return exchange.read(), exchange.status
        finally:
            exchange.close()

    def _open(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: object = None,
        *,
        headers: Mapping[str, str],
        timeout: float | None,
    ) -> Exchange:
        sent = self._headers(headers)
        content = b""
        if body is not None:
            content = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        exchange = self._connected(timeout)
        try:
            exchange.send(method, _url(path, query), sent, content)
        except BaseException:
            exchange.close()
            raise
        return exchange

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        token = self._address.token
        known = {"Authorization": f"Bearer {token}"} if token else {}
        return {"Accept": "application/json", **more, **known}

    def _connected(self, timeout: float | None) -> Exchange:
        try:
            return Exchange(self._address, timeout)
        except _NOBODY_LISTENS:
            if self._wake is None:
                raise
            self._address = self._wake()
            return Exchange(self._address, timeout)

    def _unavailable(self, cause: Exception | None) -> UnavailableError:
        if isinstance(cause, TimeoutError):
            return UnavailableError(f"{self._address} did not answer in time")
        reason = _reason(cause) if cause else "the connection breaks repeatedly"
        if isinstance(cause, _NOBODY_LISTENS):
            return UnavailableError(f"no server listens on {self._address}", hint=_WHERE)
        hint = "trainway server logs may show the reason" if self._address.is_here else _WHERE
        return UnavailableError(f"no answer from {self._address}: {reason}", hint=hint)


def segment(name: str) -> str:
    """A name as one part of a path; NotFoundError where nothing can be called that."""
    if not name:
        raise NotFoundError("the name is empty", hint="give the name or the id of something")
    if "/" in name:
        raise NotFoundError(f"nothing is called {name!r}", hint="a name or an id has no / in it")
    return quote(name, safe="")


def _url(path: str, query: Query | None) -> str:
    given = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in (query or {}).items()
        if value is not None
    }
    return BASE_PATH + path + ("?" + urlencode(given, doseq=True) if given else "")


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
