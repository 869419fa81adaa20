"""One question to the metadata service of the cloud that this machine belongs to.

It is asked by the loop itself and never waits: a service that hangs, says too much or makes no
sense is one that has not answered. No proxy is asked, since only the machine itself may answer.
"""

from __future__ import annotations

import errno
import io
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainway.agent.base.event_loop import EventLoop

TIMEOUT = 2.0
"""How long an answer may take as a whole, in seconds."""
LIMIT = 64 * 1024
"""How many bytes an answer may have."""
_READ = 16 * 1024


class Question:
    """What is asked."""

    def __init__(self, path: str, headers: Mapping[str, str], method: str = "GET") -> None:
        self.path = path
        self.headers = dict(headers)
        self.method = method

    def to_bytes(self, host: str) -> bytes:
        """The question as HTTP has it; the service closes the connection after its answer."""
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {host}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if self.method != "GET":
            lines.append("Content-Length: 0")
        return "\r\n".join([*lines, "", ""]).encode("ascii")


class Answer:
    """What the service says."""

    def __init__(self, status: int, headers: Mapping[str, str], body: str) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class MetadataRequest:
    """Asks once, and calls back once: with the answer, or with None."""

    def __init__(
        self,
        loop: EventLoop,
        address: tuple[str, int],
        question: Question,
        done: Callable[[Answer | None], None],
        timeout: float = TIMEOUT,
    ) -> None:
        self._loop = loop
        self._done: Callable[[Answer | None], None] | None = done
        self._left = question.to_bytes(address[0])
        self._received = b""
        self._socket: socket.socket | None = None
        self._timer = loop.call_later(timeout, self._finish)
        try:
            self._connect(address)
        except OSError:
            self._loop.call_soon(self._finish)

    def _connect(self, address: tuple[str, int]) -> None:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        socket.inet_pton(family, address[0])  # a name would have to be looked up, which blocks
        self._socket = asked = socket.socket(family, socket.SOCK_STREAM)
        asked.setblocking(False)
        failure = asked.connect_ex(address)
        if failure not in (0, errno.EINPROGRESS):
            raise OSError(failure, "nobody answers there")
        self._loop.watch(asked.fileno(), on_writable=self._on_writable)

    def _on_writable(self) -> None:
        asked = self._socket
        if asked is None:
            return
        try:
            self._left = self._left[asked.send(self._left) :]
        except BlockingIOError:
            return
        except OSError:
            self._finish()
            return
        if not self._left:
            self._loop.watch(asked.fileno(), on_readable=self._on_readable)

    def _on_readable(self) -> None:
        asked = self._socket
        if asked is None:
            return
        try:
            data = asked.recv(_READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._received += data
        if not data or len(self._received) > LIMIT:
            self._finish()

    def close(self) -> None:
        """Nobody wants to know any more."""
        self._done = None
        self._finish()

    def _finish(self) -> None:
        """All is there, or no more will come in time."""
        self._timer.cancel()
        if self._socket is not None:
            self._loop.forget(self._socket.fileno())
            self._socket.close()
            self._socket = None
        done, self._done = self._done, None
        if done is not None:
            done(parsed(self._received) if len(self._received) <= LIMIT else None)


class _Received:
    """What was received, as `http.client` reads it."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        """All of it."""
        return io.BytesIO(self._data)


def parsed(data: bytes) -> Answer | None:
    """What an answer says; None: it is none."""
    import http.client  # noqa: PLC0415 - it takes long to import, and few machines need it

    response = http.client.HTTPResponse(_Received(data))  # type: ignore[arg-type] # only makefile
    try:
        response.begin()
        body = response.read().decode("utf-8", "replace")
    except (http.client.HTTPException, OSError, ValueError, OverflowError):
        return None
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, body)
