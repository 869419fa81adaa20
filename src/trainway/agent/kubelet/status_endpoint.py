"""Where training code reports how far it is: HTTPS on the loopback address, in the agent's loop.

The wire format is that of Kubeflow Trainer's status server, so that its SDK and the transformers
callback work unchanged. `ssl` is imported when the first report comes: most jobs never send one.
"""

from __future__ import annotations

import json
import socket

from trainway.agent.base.progress_report import links_in, trainer_status
from trainway.agent.kubelet.status_port import reserved

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.json_types import Json

    Post = Callable[[Json], None]

BODY_LIMIT = 64 * 1024
DRAIN_LIMIT = 1024 * 1024
HEAD_LIMIT = 16 * 1024
CONNECTION_LIMIT = 64
PATIENCE_SECONDS = 10.0
CHUNK = 64 * 1024
LENGTH_DIGITS = 15

_REASONS = {
    200: "OK",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Payload Too Large",
    422: "Unprocessable Entity",
}


class RefusedError(Exception):
    """A request that gets another answer than 200."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class StatusEndpoint:
    """Takes reports from the processes of one job and hands them on.

    `settings` is the plan's `status`: port, path, and the files certificate, key and token. Port 0
    stands for any that is free. `listener` is the file of a socket that listens already.
    """

    def __init__(
        self,
        directory: Directory,
        loop: EventLoop,
        settings: Json,
        post: Post,
        listener: int | None = None,
    ) -> None:
        self.loop = loop
        self.post = post
        self.path = str(settings["path"])
        self._directory = directory
        self._settings = settings
        self._context: ssl.SSLContext | None = None
        self.token = ""
        self._connections: dict[StatusConnection, None] = {}  # the oldest first
        number = reserved(int(settings["port"])) if listener is None else listener
        self._socket = socket.socket(fileno=number)
        self.port = int(self._socket.getsockname()[1])
        loop.watch(self._socket.fileno(), on_readable=self._on_connection)

    def drain(self) -> None:
        """Take what was sent already, so that the last report of a process counts."""
        while self._accept():
            pass
        for connection in list(self._connections):
            connection.begin()

    def close(self) -> None:
        """Take no more reports than were sent already."""
        self.drain()
        self.loop.forget(self._socket.fileno())
        self._socket.close()
        for connection in list(self._connections):
            connection.close()

    def forget(self, connection: StatusConnection) -> None:
        """Note that a connection was closed."""
        self._connections.pop(connection, None)

    def _on_connection(self) -> None:
        self._accept()

    def _accept(self) -> bool:
        """Whether somebody was there."""
        try:
            accepted, _ = self._socket.accept()
        except OSError:
            return False
        if not self._has_room():
            accepted.close()
            return True
        try:
            accepted.setblocking(False)
            accepted.getpeername()  # one that is gone already is better not wrapped
            wrapped = self._load().wrap_socket(
                accepted, server_side=True, do_handshake_on_connect=False
            )
        except (OSError, ValueError):  # or the job has removed its own files
            accepted.close()
            return True
        connection = StatusConnection(wrapped, self)
        self._connections[connection] = None
        connection.begin()
        return True

    def _has_room(self) -> bool:
        """Whether another may come; the oldest that has said nothing leaves for it."""
        for connection in list(self._connections):
            if len(self._connections) < CONNECTION_LIMIT:
                break
            if connection.is_idle:
                connection.begin()  # what it has said meanwhile counts
            if connection.is_idle:
                connection.close()
        return len(self._connections) < CONNECTION_LIMIT

    def _load(self) -> ssl.SSLContext:
        import ssl  # noqa: PLC0415 - slow, and needed only when somebody reports

        if self._context is None:
            self.token = self._directory.read(self._settings["token"]).decode().strip()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(
                self._directory.join(self._settings["certificate"]),
                self._directory.join(self._settings["key"]),
            )
            self._context = context
        return self._context


class StatusConnection:
    """One client: a handshake, one request, one answer."""

    def __init__(self, wrapped: ssl.SSLSocket, endpoint: StatusEndpoint) -> None:
        import ssl  # noqa: PLC0415 - the same

        self._ssl = ssl
        self._socket = wrapped
        self._fd = wrapped.fileno()
        self._endpoint = endpoint
        self._received = b""
        self._unsent = b""
        self._step: Callable[[], bool] = self._handshake
        self._timer: Timer = endpoint.loop.call_later(PATIENCE_SECONDS, self.close)

    @property
    def is_idle(self) -> bool:
        """Whether nothing of a report has come."""
        return not self._received

    def begin(self) -> None:
        """Greet the client, or go on with it."""
        self._go_on()

    def close(self) -> None:
        """Leave the client."""
        if self._fd >= 0:
            self._timer.cancel()
            self._endpoint.loop.forget(self._fd)
            self._socket.close()
            self._fd = -1
            self._endpoint.forget(self)

    def _go_on(self) -> None:
        """Do what can be done now, and wait for what TLS is waiting for."""
        try:
            while self._step():
                pass
        except self._ssl.SSLWantReadError:
            self._endpoint.loop.watch(self._fd, on_readable=self._go_on)
        except self._ssl.SSLWantWriteError:
            self._endpoint.loop.watch(self._fd, on_writable=self._go_on)
        except OSError:  # also what TLS has against a client
            self.close()

    def _handshake(self) -> bool:
        self._socket.do_handshake()
        self._step = self._receive
        return True

    def _receive(self) -> bool:
        data = self._socket.recv(CHUNK)
        if not data:
            self.close()
            return False
        self._received += data
        try:
            body = self._body()
            if body is None:
                return True
            answer, status = self._report(body), 200
        except RefusedError as error:
            status = error.status
            answer = {
                "metadata": {},
                "status": "Failure",
                "message": error.message,
                "reason": _REASONS[status].replace(" ", ""),
                "code": status,
            }
        self._unsent = _response(status, answer)
        self._step = self._send
        return True

    def _send(self) -> bool:
        sent = self._socket.send(self._unsent)
        self._unsent = self._unsent[sent:]
        if self._unsent:
            return True
        self.close()
        return False

    def _body(self) -> bytes | None:
        """The body of the request; None while some of it is still to come."""
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found:
            if len(head) > HEAD_LIMIT:
                raise RefusedError(413, "Payload too large")
            return None
        request, *lines = head.decode("latin-1").split("\r\n")
        method, _, rest = request.partition(" ")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        text = headers.get("content-length", "0")
        is_number = text.isascii() and text.isdigit() and len(text) <= LENGTH_DIGITS
        length = int(text) if is_number else 0
        if len(body) < min(length, DRAIN_LIMIT):
            return None  # an answer before the end of the request might not be read
        self._check(method, rest.partition(" ")[0], headers)
        if length > BODY_LIMIT:
            raise RefusedError(413, "Payload too large")
        return body[:length]

    def _check(self, method: str, path: str, headers: dict[str, str]) -> None:
        if path != self._endpoint.path:
            raise RefusedError(404, "Not found")
        if method != "POST":
            raise RefusedError(405, "Method not allowed")
        from hmac import compare_digest  # noqa: PLC0415 - the same

        wanted = f"Bearer {self._endpoint.token}".encode()
        if not compare_digest(headers.get("authorization", "").encode("latin-1"), wanted):
            raise RefusedError(403, "Forbidden")

    def _report(self, body: bytes) -> Json:
        try:
            report = json.loads(body)
            status = trainer_status(report)
            links = links_in(report)
        except RecursionError:
            raise RefusedError(422, "Invalid payload: it is nested too deep") from None
        except ValueError as error:
            detail = "" if isinstance(error, json.JSONDecodeError) else f": {error}"
            raise RefusedError(422, f"Invalid payload{detail}") from None
        if links:
            self._endpoint.post({"links": links})
        if status is None:
            return {}
        self._endpoint.post(status)
        return {"trainerStatus": status}


def _response(status: int, answer: Json) -> bytes:
    body = json.dumps(answer).encode()
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode("latin-1") + body
