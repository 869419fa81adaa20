"""Parts of objects over HTTP that is not encrypted, from the socket to whoever writes them.

Stores of one's own are often reached so, and fast enough that the time of a copy is that of the
processor. A part is asked for with a signed address and read into one buffer, again and again;
obstore hands on every byte in memory of its own. Only what goes well is done here: after anything
else obstore asks once more, which tries again, follows redirections and says what is wrong.
"""

import contextlib
import http.client
import os
import socket
import threading
import urllib.parse
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from trainway.data.store import Piece

_TIMEOUT_S: Final = 60.0
_PIECE: Final = 1 << 18
_AT_LEAST: Final = 1 << 19
"""So much is waited for before it is read: to be woken for each packet costs more than to read."""
_AT_ONCE: Final = max(2, min(4, os.cpu_count() or 2))
"""More than there are processors would only wait for each other, and for Python's lock."""
PART_SIZE: Final = 64 << 20
"""A request costs such a store about a millisecond of the processor, whatever it is for, and the
end of a part costs us as much: in parts of half the size a copy takes a tenth more of both."""

Connections = list[http.client.HTTPConnection]


def is_plain(endpoint: str, environment: Mapping[str, str]) -> bool:
    """Whether a store is asked without encryption, directly, and by somebody who signs."""
    address = urllib.parse.urlsplit(endpoint)
    others = {name.lower() for name, value in environment.items() if value}
    return (
        address.scheme == "http"
        and bool(address.hostname)
        and others.isdisjoint({"http_proxy", "all_proxy", "aws_skip_signature"})
    )


class PlainReading:
    """Reads objects of one bucket; `sign` gives the address of a key, or None."""

    def __init__(self, sign: Callable[[str], str | None]) -> None:
        self._sign = sign
        self._idle: Connections = []
        self._turns = threading.Semaphore(_AT_ONCE)
        weakref.finalize(self, _close, self._idle)

    def read(self, key: str, etag: str, start: int, end: int) -> Iterator[Piece] | None:
        """A part of an object in one version, or None: something is not as it should be.

        A piece is good until the next one is asked for.
        """
        signed = self._sign(key)
        if signed is None:
            return None
        address = urllib.parse.urlsplit(signed)
        connection = self._connection(address.netloc)
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        if etag:
            headers["If-Match"] = etag
        try:
            connection.request("GET", f"{address.path}?{address.query}", headers=headers)
            opened: socket.socket = connection.sock
            answer = connection.getresponse()  # forgets the socket, if the store will close it
        except (OSError, ValueError, http.client.HTTPException):
            connection.close()
            return None
        if not _is_asked_for(answer, etag, start, end):
            answer.close()
            connection.close()
            return None
        return self._pieces(connection, answer, opened, end - start)

    def _connection(self, netloc: str) -> http.client.HTTPConnection:
        try:
            return self._idle.pop()
        except IndexError:
            return http.client.HTTPConnection(netloc, timeout=_TIMEOUT_S)

    def _pieces(
        self,
        connection: http.client.HTTPConnection,
        answer: http.client.HTTPResponse,
        opened: socket.socket,
        left: int,
    ) -> Iterator[Piece]:
        buffer = memoryview(bytearray(min(_PIECE, left)))
        try:
            with self._turns:
                here = min(len(answer.fp.peek()), len(buffer))  # came along with the headers
                size = answer.readinto(buffer[:here])
                _wait_for(opened, _AT_LEAST)
                while size:
                    left -= size
                    yield buffer[:size]
                    size = _received(opened, buffer, left)
                if left:
                    raise ConnectionError("the connection ended")
        finally:
            answer.close()
            if left:
                connection.close()
            else:
                _wait_for(opened, 1)
                self._idle.append(connection)


def _received(opened: socket.socket, buffer: memoryview, left: int) -> int:
    """Read more of an answer, and say how much; 0: that was all."""
    if not left:
        return 0
    if left < _AT_LEAST:
        _wait_for(opened, left)
    try:
        return opened.recv_into(buffer[:left])
    except TimeoutError:  # it is slow: take what has come
        _wait_for(opened, 1)
        return opened.recv_into(buffer[:left])


def _wait_for(opened: socket.socket, size: int) -> None:
    """Have reads wait until there is so much, or the connection has ended."""
    with contextlib.suppress(OSError):  # it is quicker, and nothing depends on it
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)


def _is_asked_for(answer: http.client.HTTPResponse, etag: str, start: int, end: int) -> bool:
    """Whether an answer has that part of that version, and says how long it is."""
    return (
        answer.status == 206
        and (answer.headers.get("ETag") or "") == etag
        and (answer.headers.get("Content-Range") or "").startswith(f"bytes {start}-{end - 1}/")
        and answer.length == end - start
    )


def _close(connections: Connections) -> None:
    for connection in connections:
        with contextlib.suppress(OSError):
            connection.close()
