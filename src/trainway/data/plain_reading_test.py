import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from trainway.data.plain_reading import PlainReading, _received, _wait_for, is_plain

CONTENT = bytes(range(256)) * 4096
ETAG = '"1"'


class Store(BaseHTTPRequestHandler):
    """Answers as the name of the object says."""

    protocol_version = "HTTP/1.1"
    peers: ClassVar[list[object]] = []

    def do_GET(self) -> None:
        self.peers.append(self.client_address)
        kind = self.path.partition("?")[0].removeprefix("/")
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        body = CONTENT[first : last + 1]
        shown = f"bytes {first + (kind == 'elsewhere')}-{last}/{len(CONTENT)}"
        self.send_response({"missing": 404, "changed": 412, "whole": 200}.get(kind, 206))
        self.send_header("Content-Length", str(len(body) - (kind == "shorter")))
        self.send_header("Content-Range", shown)
        self.send_header("ETag", '"2"' if kind == "newer" else ETAG)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if kind == "cut" else body)
        if kind in {"cut", "shorter"}:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        pass


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def reading(root: str) -> PlainReading:
    return PlainReading(lambda key: f"{root}/{key}?signature=x" if key != "unsigned" else None)


def test_parts_come_one_after_the_other_on_one_connection(root: str) -> None:
    Store.peers = []
    plain = reading(root)
    for start, end in ((0, 700_000), (700_000, len(CONTENT)), (5, 6)):
        pieces = plain.read("big", ETAG, start, end)
        assert pieces is not None
        assert b"".join(bytes(piece) for piece in pieces) == CONTENT[start:end]
    assert len(Store.peers) == 3
    assert len(set(Store.peers)) == 1


@pytest.mark.parametrize(
    "key", ["missing", "changed", "whole", "newer", "shorter", "elsewhere", "unsigned"]
)
def test_what_is_not_as_it_should_be_is_left_to_others(root: str, key: str) -> None:
    assert reading(root).read(key, ETAG, 10, 20) is None


def test_who_is_not_there_is_left_to_others() -> None:
    assert reading("http://127.0.0.1:1").read("big", ETAG, 10, 20) is None


def test_an_etag_that_no_header_can_have_is_left_to_others(root: str) -> None:
    assert reading(root).read("big", "a\r\nHost: b", 10, 20) is None


def test_a_connection_that_ends_in_the_middle_is_an_error(root: str) -> None:
    plain = reading(root)
    pieces = plain.read("cut", ETAG, 0, 600_000)
    assert pieces is not None
    with pytest.raises(ConnectionError):
        list(pieces)
    assert not plain._idle


def test_what_comes_slowly_is_read_as_it_comes() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname(), timeout=0.05) as here,
    ):
        there, _ = listener.accept()
        buffer = memoryview(bytearray(1000))
        _wait_for(here, 1 << 19)
        there.sendall(b"little")
        assert _received(here, buffer, 1 << 20) == len(b"little")
        there.close()
        assert _received(here, buffer, 1 << 20) == 0


@dataclass(frozen=True)
class Case:
    endpoint: str
    variables: dict[str, str]
    is_plain: bool


@pytest.mark.parametrize(
    "case",
    [
        Case("http://store:9000", {}, True),
        Case("https://store:9000", {}, False),
        Case("", {}, False),
        Case("http://", {}, False),
        Case("http://store:9000", {"http_proxy": "http://proxy:3128"}, False),
        Case("http://store:9000", {"all_proxy": "socks5://proxy"}, False),
        Case("http://store:9000", {"HTTP_PROXY": "http://proxy:3128"}, False),
        Case("http://store:9000", {"https_proxy": "http://proxy:3128"}, True),
        Case("http://store:9000", {"http_proxy": ""}, True),
        Case("http://store:9000", {"AWS_SKIP_SIGNATURE": "true"}, False),
    ],
    ids=str,
)
def test_which_stores_are_read_so(case: Case) -> None:
    assert is_plain(case.endpoint, case.variables) is case.is_plain
