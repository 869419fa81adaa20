"""One client of the host agent: JSON objects, one a line, both ways.

Answers overtake logs and files that wait to be sent, so that a slow line does not make the host
look dead. Logs and files are only fetched while there is room for them.
"""

from __future__ import annotations

import json
import os
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.transfer.host_events import Refusal
    from trainway.json_types import Json


READ_SIZE = 1024 * 1024
LINE_LIMIT = 256 * 1024 * 1024
BULK_LIMIT = 1024 * 1024
"""How many bytes of logs and files are kept in memory for a client at most."""


class Connection:
    """A client; `owner` is who it says it is."""

    def __init__(
        self,
        accepted: socket.socket,
        loop: EventLoop,
        on_frame: Callable[[Connection, Json], None],
        on_close: Callable[[Connection], None],
    ) -> None:
        self.owner = ""
        self.name = os.urandom(8).hex()
        self.reached: Json = {}
        """How the host was reached for it."""
        self.on_room: Callable[[], None] | None = None
        """Called when there is room for more bulk."""
        self.closed = False
        self.frames = 0
        """How many frames came from the client."""
        self._socket = accepted
        self._loop = loop
        self._on_frame = on_frame
        self._on_close = on_close
        self._received: list[bytes] = []
        self._length = 0
        self._sending = memoryview(b"")
        """The rest of what has to be sent first, since part of it is sent already."""
        self._answers: deque[bytes] = deque()
        self._bulk: deque[bytes] = deque()
        self._bulk_size = 0
        self._leaving = False
        accepted.setblocking(False)
        self._watch()

    @property
    def has_room(self) -> bool:
        """Whether more logs and files may be handed over."""
        return not self.closed and self._bulk_size < BULK_LIMIT

    def answer(self, frame: Mapping[str, object]) -> None:
        """Send something soon."""
        self._answers.append(_line(frame))
        self._watch()

    def stream(self, frame: Mapping[str, object]) -> None:
        """Send something in order with all else that is streamed."""
        line = _line(frame)
        self._bulk.append(line)
        self._bulk_size += len(line)
        self._watch()

    def leave(self) -> None:
        """Close it when all answers are sent."""
        self._leaving = True
        self._bulk.clear()
        self._watch()

    def _watch(self) -> None:
        if self.closed:
            return
        waiting = bool(self._sending or self._answers or self._bulk or self._leaving)
        self._loop.watch(
            self._socket.fileno(),
            on_readable=self._receive,
            on_writable=self._send if waiting else None,
        )

    def _receive(self) -> None:
        try:
            data = self._socket.recv(READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data or self._length > LINE_LIMIT:
            self.close()
            return
        first, *others = data.split(b"\n")
        self._received.append(first)
        self._length += len(first)
        for other in others:
            line, self._received = b"".join(self._received), [other]
            self._length = len(other)
            if line.strip() and not self.closed:
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            frame = json.loads(line)
        except ValueError:
            frame = None
        if not isinstance(frame, dict):
            message = "not a JSON object"
            refusal: Refusal = {"event": "error", "op": "", "id": "", "message": message}
            self.answer(refusal)
        else:
            self.frames += 1
            self._on_frame(self, frame)

    def _send(self) -> None:
        try:
            while True:
                if not self._sending:
                    self._sending = memoryview(self._next())
                    if not self._sending:
                        break
                sent = self._socket.send(self._sending)
                self._sending = self._sending[sent:]
        except BlockingIOError:
            pass
        except OSError:
            self.close()
            return
        if self._leaving and not self._sending and not self._answers:
            self.close()
            return
        self._watch()
        if self.on_room is not None and self.has_room:
            self.on_room()

    def _next(self) -> bytes:
        if self._answers:
            return self._answers.popleft()
        if not self._bulk:
            return b""
        line = self._bulk.popleft()
        self._bulk_size -= len(line)
        return line

    def close(self) -> None:
        """Let go of the client."""
        if self.closed:
            return
        self.closed = True
        self._loop.forget(self._socket.fileno())
        self._socket.close()
        self._on_close(self)


def _line(frame: Mapping[str, object]) -> bytes:
    return json.dumps(frame, separators=(",", ":")).encode() + b"\n"
