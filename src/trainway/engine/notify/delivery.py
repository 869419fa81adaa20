"""Delivers one notice over HTTP. Blocks: call it in a thread.

However a target answers, it has done so within a time: one that sends a byte now and then, for
ever, would keep a thread that others need.
"""

import http.client
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from threading import Timer
from typing import Any, Final

from trainway.notify.message import HttpRequest

_TIMEOUT_S: Final = 10.0
"""For each step: to connect, or until the next bytes come."""
_WHOLE_S: Final = 30.0
"""For the whole answer."""
_LONGEST: Final = 300
_WORTH_ANOTHER_TRY: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)


class DeliveryError(Exception):
    """Why a notice did not arrive.

    `is_final`: another attempt would not help; `is_silent`: nobody answers there, whatever is told.
    """

    def __init__(self, message: str, *, is_final: bool = False, is_silent: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final
        self.is_silent = is_silent


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Whoever was to be told is told, and nobody else: headers may hold secrets."""

    def redirect_request(self, *_args: Any) -> None:
        return None


class _Limit:
    """Ends the connections of one delivery when its time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.is_over = False
        self._sockets: list[socket.socket] = []

    def watch(self, connected: socket.socket) -> None:
        """Have one more of them."""
        self._sockets.append(connected)
        if self.is_over:
            self._end()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the time pass."""
        timer = Timer(self.seconds, self._end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _end(self) -> None:
        self.is_over = True
        for each in self._sockets:
            with suppress(OSError):  # as a plain socket, also where TLS is spoken: who reads has it
                socket.socket.shutdown(each, socket.SHUT_RDWR)


class _Plain(http.client.HTTPConnection):
    """A connection whose time is limited."""

    def __init__(self, *args: Any, limit: _Limit, **more: Any) -> None:
        super().__init__(*args, **more)
        self._limit = limit

    def connect(self) -> None:
        super().connect()
        self._limit.watch(self.sock)


class _Encrypted(http.client.HTTPSConnection):
    """The same with TLS."""

    def __init__(self, *args: Any, limit: _Limit, **more: Any) -> None:
        super().__init__(*args, **more)
        self._limit = limit

    def connect(self) -> None:
        super().connect()
        self._limit.watch(self.sock)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, limit: _Limit) -> None:
        super().__init__()
        self._limit = limit

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_Plain, limit=self._limit), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, limit: _Limit) -> None:
        super().__init__()
        self._limit = limit

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_Encrypted, limit=self._limit), req)


def deliver(request: HttpRequest, whole_s: float = _WHOLE_S) -> None:
    """Send it; a DeliveryError says why it did not arrive."""
    sent = urllib.request.Request(  # noqa: S310 - the settings allow http and https only
        request.url, request.body, request.headers, method="POST"
    )
    limit = _Limit(whole_s)
    opener = urllib.request.build_opener(_NoRedirects, _Http(limit), _Https(limit))
    try:
        with limit.running(), opener.open(sent, timeout=_TIMEOUT_S):
            return
    except urllib.error.HTTPError as error:
        with error:
            is_final = error.code < HTTPStatus.INTERNAL_SERVER_ERROR
            is_final = is_final and error.code not in _WORTH_ANOTHER_TRY
            said = f"it answers {error.code} {_shown(error.reason)}".strip()
            raise DeliveryError(said, is_final=is_final) from None
    except urllib.error.URLError as error:
        raise _unreachable(limit, error.reason) from None
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(limit, _shown(error) or type(error).__name__) from None
    except ValueError as error:
        said = f"its URL cannot be used: {_shown(error)}"
        raise DeliveryError(said, is_final=True) from None


def _unreachable(limit: _Limit, why: object) -> DeliveryError:
    if limit.is_over:
        why = f"it had not answered after {limit.seconds:g} seconds"
    return DeliveryError(f"it cannot be reached: {_shown(why)}", is_silent=True)


def _shown(said: object) -> str:
    """What somebody else has said, fit for a line of a log."""
    text = str(said)[:_LONGEST]
    return "".join(each if each.isprintable() else " " for each in text).strip()
