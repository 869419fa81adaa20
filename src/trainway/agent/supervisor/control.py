"""The agent's socket: one JSON object a line, to watch a job or to change its course.

    {"op": "watch", "from": 0}      the journal from that record on, then all that follows;
                                    the connection then takes no other request
    {"op": "status"}                the JobSet's status, and the agent
    {"op": "suspend"}, "resume"     answered when it is under way
    {"op": "resize", "nodes": 2}    how many nodes an elastic job may have at most
    {"op": "leave"}                 answered when a suspended job has no process any more; then the
                                    agent ends, and another one may go on with the job
    {"op": "cancel"}                answered when all processes are gone; "grace": 0 hurries

A watcher that reads slowly slows nobody down: it gets its lines from the journal at its own pace.
"""

from __future__ import annotations

import json

from trainway.agent.base import unix_listener

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping
    from typing import Any

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop
    from trainway.agent.base.journal import Journal
    from trainway.json_types import Json

    Answer = Callable[[Mapping[str, Any]], object]

NAME = "agent.sock"
CHUNK = 256 * 1024
REQUEST_LIMIT = 64 * 1024
CONNECTION_LIMIT = 256
"""How many clients there may be at once: a server, and whoever looks at the job beside it."""


class ControlServer:
    """Listens for clients, as long as the agent lives."""

    request_limit = REQUEST_LIMIT
    connection_limit = CONNECTION_LIMIT

    def __init__(
        self,
        directory: Directory,
        loop: EventLoop,
        journal: Journal | None,
        handle: Callable[[Json, Answer], None],
    ) -> None:
        self.loop = loop
        self.handle = handle
        self._journal = journal
        self._connections: set[Connection] = set()
        self._on_idle: Callable[[], None] | None = None
        self._socket = unix_listener.listen(directory, NAME)
        loop.watch(self._socket.fileno(), on_readable=self._accept)

    def _accept(self) -> bool:
        """Take a client; whether there was one."""
        accepted = unix_listener.accept(self._socket)
        if accepted is None:
            return False
        if len(self._connections) >= self.connection_limit:
            accepted.close()
            return False
        self._connections.add(Connection(accepted, self))
        return True

    @property
    def clients(self) -> int:
        """How many are connected."""
        return len(self._connections)

    def journal_for(self, _request: Json) -> Journal | None:
        """What a client may watch; None where there is nothing to be watched."""
        return self._journal

    def drop(self, connection: Connection) -> None:
        """Forget a connection that was closed."""
        self._connections.discard(connection)
        self._check_idle()

    def drain(self, done: Callable[[], None]) -> None:
        """Take no more clients, and call back when all have read what there is to read.

        Those that are connected and have asked for nothing yet may still do so.
        """
        while self._accept():
            continue
        self.loop.forget(self._socket.fileno())
        self._socket.close()
        self._on_idle = done
        for connection in list(self._connections):
            connection.finish()
        self._check_idle()

    def _check_idle(self) -> None:
        if self._on_idle is not None and not self._connections:
            done, self._on_idle = self._on_idle, None
            done()


class Connection:
    """One client."""

    def __init__(self, accepted: socket.socket, server: ControlServer) -> None:
        self._socket = accepted
        self._server = server
        self._received = b""
        self._unsent = b""
        self.journal: Journal | None = None
        """What a watcher watches."""
        self._position = 0
        """How far it has got."""
        self._asked = False
        self._finishing = False
        self._closed = False
        self._watch()

    def finish(self) -> None:
        """Close it as soon as everything is sent."""
        self._finishing = True
        self._send()

    def _watch(self) -> None:
        if self._closed:
            return
        waiting = bool(self._unsent) or self._has_news()
        self._server.loop.watch(
            self._socket.fileno(),
            on_readable=self._receive,
            on_writable=self._send if waiting else None,
        )

    def _has_news(self) -> bool:
        return self.journal is not None and self._position < self.journal.end

    def _receive(self) -> None:
        try:
            data = self._socket.recv(REQUEST_LIMIT)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._received += data
        if not data or len(self._received) > self._server.request_limit:
            self._close()
            return
        while b"\n" in self._received and not self._closed and self.journal is None:
            line, _, self._received = self._received.partition(b"\n")
            self._request(line)

    def _request(self, line: bytes) -> None:
        self._asked = True
        try:
            request = unix_listener.parsed(line)
            operation = request["op"]
        except (ValueError, KeyError):
            self._answer({"ok": False, "error": 'a request is one line of JSON with an "op"'})
            return
        if operation == "watch":
            start = request.get("from") or 0
            if not isinstance(start, int) or start < 0:
                self._answer({"ok": False, "error": '"from" must be a number'})
                return
            self._begin_watch(request, start)
        else:
            self._server.handle(request, self._answer)

    def _begin_watch(self, request: Json, start: int) -> None:
        journal = self._server.journal_for(request)
        if journal is None:
            self._answer({"ok": False, "error": "there is no such job here"})
            self.finish()
            return
        self.journal = journal
        self._position = journal.offset(start)
        journal.subscribe(self._watch)
        self._watch()

    def _answer(self, answer: Mapping[str, Any]) -> bool:
        """Send an answer; whether there is still somebody to send it to."""
        if self._closed:
            return False
        self._unsent += json.dumps(answer).encode() + b"\n"
        self._send()
        return not self._closed

    def _send(self) -> None:
        if self._closed:
            return
        if not self._unsent and self.journal is not None and self._has_news():
            self._unsent = self.journal.read(self._position, CHUNK)
            self._position += len(self._unsent)
        try:
            if self._unsent:
                sent = self._socket.send(self._unsent)
                self._unsent = self._unsent[sent:]
        except BlockingIOError:
            sent = 0
        except OSError:
            self._close()
            return
        if self._finishing and self._asked and not self._unsent and not self._has_news():
            self._close()
            return
        self._watch()

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self.journal is not None:
            self.journal.unsubscribe(self._watch)
        self._server.loop.forget(self._socket.fileno())
        self._socket.close()
        self._server.drop(self)
