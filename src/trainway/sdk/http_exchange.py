"""HTTP/1.1 for one request and its answer, over a connection of its own.

http.client does the same, but importing it costs a sixth of the time that a command has: it reads
headers with the modules for e-mail, and loads TLS for connections without. Decision 3 has figures.
"""

import errno
import socket
from collections.abc import Iterable, Mapping
from typing import Final

from trainway.errors import UsageError
from trainway.sdk.address import Address

_LONGEST_UNIX_PATH: Final = 107
"""The longest path of a socket; a server whose home has a longer one listens elsewhere, and
server.json says where."""
_LONGEST_LINE: Final = 1 << 16
_MOST_LINES: Final = 200
_PIECE: Final = 1 << 16
_CONTINUE: Final = range(100, 200)
_WITHOUT_BODY: Final = (204, 304)
_NOISE: Final = "the answer is not HTTP"


class BrokenAnswerError(Exception):
    """The answer is not HTTP, or it ends too soon."""


class Exchange:
    """A connection to a server; one request goes out, and its answer is read."""

    def __init__(self, address: Address, timeout: float | None) -> None:
        self.socket = _connected(address, timeout)
        self._host = "localhost" if address.socket else str(address).partition("://")[2]
        self._answer = self.socket.makefile("rb")
        self.status = 0
        self._left: int | None = 0
        """How many bytes of the body or of its present chunk are still to come; None if it ends
        with the connection."""
        self._is_chunked = False

    def send(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> None:
        """Send a request and read the answer's head."""
        length = None if method == "GET" else len(content)
        self.socket.sendall(self._head(method, path, headers, length) + content)
        self._read_head()

    def send_pieces(
        self, path: str, headers: Mapping[str, str], pieces: Iterable[bytes], length: int
    ) -> None:
        """Post a body of that length which is not held as a whole, and read the answer's head."""
        self.socket.sendall(self._head("POST", path, headers, length))
        try:
            for piece in pieces:
                self.socket.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            self._read_head()  # a server that refuses it need not read it to its end
        else:
            self._read_head()

    def _head(
        self, method: str, path: str, headers: Mapping[str, str], length: int | None
    ) -> bytes:
        sent = {"Host": self._host, "Connection": "close", **headers}
        if length is not None:
            sent["Content-Length"] = str(length)
        for name, value in sent.items():
            if "\r" in value or "\n" in value:
                raise UsageError(f"the header {name} cannot have a line break")
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {sent[name]}" for name in sent), "", ""]
        return "\r\n".join(lines).encode()

    def read(self) -> bytes:
        """All of the body that is left."""
        return b"".join(iter(lambda: self.read1(_PIECE), b""))

    def read1(self, size: int) -> bytes:
        """Some bytes of the body, as soon as there are any; none at its end."""
        if self._is_chunked and self._left == 0:
            self._next_chunk()
        if self._left == 0:
            return b""
        found = self._answer.read1(size if self._left is None else min(size, self._left))
        if self._left is None:
            return found
        if not found:
            raise BrokenAnswerError("the connection ended in the middle of an answer")
        self._left -= len(found)
        return found

    def close(self) -> None:
        """End the connection."""
        self._answer.close()
        self.socket.close()

    def _read_head(self) -> None:
        while True:
            self.status = _status(self._line())
            headers = self._headers()
            if self.status not in _CONTINUE:
                break
        if self.status in _WITHOUT_BODY:
            return
        self._is_chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        if not self._is_chunked:
            length = headers.get("content-length")
            self._left = None if length is None else _number(length, 10)
            return
        self._read_chunk_size()

    def _headers(self) -> dict[str, str]:
        """By their names in small letters."""
        found: dict[str, str] = {}
        for _ in range(_MOST_LINES):
            line = self._line()
            if not line:
                return found
            name, _, value = line.partition(":")
            found[name.lower()] = value.strip()
        raise BrokenAnswerError("the answer has too many headers")

    def _next_chunk(self) -> None:
        """Go on behind a chunk; only now, since a chunk is worth giving before its line ends."""
        if self._line():
            raise BrokenAnswerError("a chunk of the answer is longer than it says")
        self._read_chunk_size()

    def _read_chunk_size(self) -> None:
        self._left = _number(self._line().partition(";")[0], 16)
        if self._left == 0:  # the last one
            self._is_chunked = False
            self._headers()

    def _line(self) -> str:
        line = self._answer.readline(_LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise BrokenAnswerError("the connection ended before an answer" if not line else _NOISE)
        return line.rstrip(b"\r\n").decode("latin-1")


def _connected(address: Address, timeout: float | None) -> socket.socket:
    if not address.socket:
        made = socket.create_connection((address.host, address.port), timeout)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return _secured(made, address.host) if address.is_tls else made
    if len(address.socket.encode()) > _LONGEST_UNIX_PATH:
        raise FileNotFoundError(errno.ENOENT, "the path is too long for a socket")
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(timeout)
        made.connect(address.socket)
    except BaseException:
        made.close()
        raise
    return made


def _secured(plain: socket.socket, host: str) -> socket.socket:
    import ssl  # noqa: PLC0415 - slow to import, and not for the server of this machine

    try:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise


def _status(line: str) -> int:
    version, _, rest = line.partition(" ")
    if not version.startswith("HTTP/1."):
        raise BrokenAnswerError(_NOISE)
    return _number(rest[:3], 10)


def _number(text: str, base: int) -> int:
    try:
        number = int(text, base)
    except ValueError:
        raise BrokenAnswerError(_NOISE) from None
    if number < 0:
        raise BrokenAnswerError(_NOISE)
    return number
