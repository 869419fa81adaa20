import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.errors import UsageError
from trainway.sdk.address import Address
from trainway.sdk.http_exchange import BrokenAnswerError, Exchange


class Listener:
    """A server that reads one request and answers with these bytes, piece by piece."""

    def __init__(self, path: Path, pieces: Sequence[bytes]) -> None:
        self.address = Address(str(path))
        self.request = b""
        self._pieces = pieces
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._socket.accept()
        # Whoever asks may have heard enough before all is said.
        with connection, suppress(BrokenPipeError, ConnectionResetError):
            while b"\r\n\r\n" not in self.request:
                self.request += connection.recv(1000)
            for piece in self._pieces:
                connection.sendall(piece)

    def close(self) -> None:
        self._thread.join()
        self._socket.close()


@contextmanager
def exchanged(tmp_path: Path, *pieces: bytes, method: str = "GET") -> Iterator[Exchange]:
    listener = Listener(tmp_path / "s", pieces)
    exchange = Exchange(listener.address, 60.0)
    try:
        exchange.send(method, "/x", {"A": "b"}, b"")
        yield exchange
    finally:
        exchange.close()
        listener.close()


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Case:
    name: str
    pieces: tuple[bytes, ...]
    body: bytes = b"hello"
    status: int = 200


@pytest.mark.parametrize(
    "case",
    [
        Case("length", (OK + b"content-length: 5\r\n\r\nhello",)),
        Case("bytes behind it", (OK + b"Content-Length: 5\r\n\r\nhello there",)),
        Case("until it closes", (OK + b"\r\nhel", b"lo")),
        Case("chunks", (CHUNKED + b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",)),
        Case("chunks cut anywhere", (CHUNKED + b"2\r\nh", b"e\r", b"\n3", b"\r\nllo\r\n0\r\n\r\n")),
        Case("headers behind chunks", (CHUNKED + b"5\r\nhello\r\n0\r\nA: b\r\n\r\n",)),
        Case("an empty chunked one", (CHUNKED + b"0\r\n\r\n",), b""),
        Case("lines without CR", (b"HTTP/1.0 200\nContent-Length: 5\n\nhello",)),
        Case("without a body", (b"HTTP/1.1 204 No Content\r\n\r\n",), b"", 204),
        Case("told to go on", (b"HTTP/1.1 100 Continue\r\n\r\n", OK + b"\r\nhello")),
        Case(
            "an error", (b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello",), status=404
        ),
    ],
    ids=lambda case: case.name,
)
def test_an_answer_is_read(case: Case, tmp_path: Path) -> None:
    with exchanged(tmp_path, *case.pieces) as exchange:
        assert (exchange.status, exchange.read()) == (case.status, case.body)
        assert exchange.read1(10) == b""


@pytest.mark.parametrize(
    "case",
    [
        Case("nothing", (b"",)),
        Case("not HTTP", (b"SSH-2.0-OpenSSH_9.2\r\n",)),
        Case("no status", (b"HTTP/1.1 what\r\n\r\n",)),
        Case("no end of the headers", (OK + b"A: b\r\n",)),
        Case("too many headers", (OK + b"A: b\r\n" * 300,)),
        Case("a negative length", (OK + b"Content-Length: -1\r\n\r\n",)),
        Case("too short", (OK + b"Content-Length: 6\r\n\r\nhello",)),
        Case("in the middle of a chunk", (CHUNKED + b"6\r\nhello",)),
        Case("before the next chunk", (CHUNKED + b"5\r\nhello\r\n",)),
        Case("a chunk that is too long", (CHUNKED + b"4\r\nhello\r\n0\r\n\r\n",)),
    ],
    ids=lambda case: case.name,
)
def test_what_is_no_answer_or_ends_too_soon_is_told_apart(case: Case, tmp_path: Path) -> None:
    with pytest.raises(BrokenAnswerError), exchanged(tmp_path, *case.pieces) as exchange:
        exchange.read()


def test_a_piece_of_a_chunk_is_given_before_the_chunk_ends(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s"))
    listener.listen()
    exchange = Exchange(Address(str(tmp_path / "s")), 10.0)
    connection, _ = listener.accept()
    connection.sendall(CHUNKED + b"5\r\nhel")
    exchange.send("GET", "/", {}, b"")
    assert exchange.read1(100) == b"hel"
    connection.sendall(b"lo")
    assert exchange.read1(100) == b"lo"
    listener.close()
    connection.close()
    exchange.close()


def test_the_request_says_where_it_goes_and_that_nothing_follows(tmp_path: Path) -> None:
    listener = Listener(tmp_path / "s", [OK + b"\r\n"])
    exchange = Exchange(listener.address, 60.0)
    exchange.send("POST", "/x?y=z", {"A": "b"}, b"{}")
    exchange.close()
    listener.close()
    assert listener.request == (
        b"POST /x?y=z HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nA: b\r\n"
        b"Content-Length: 2\r\n\r\n{}"
    )


def test_a_header_cannot_bring_another_one(tmp_path: Path) -> None:
    listener = Listener(tmp_path / "s", [OK + b"\r\n"])
    exchange = Exchange(listener.address, 60.0)
    with pytest.raises(UsageError, match="Authorization cannot have a line break"):
        exchange.send("GET", "/", {"Authorization": "Bearer x\r\nB: c"}, b"")
    exchange.send("GET", "/", {}, b"")
    exchange.close()
    listener.close()
