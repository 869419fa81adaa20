"""Notices over real HTTP."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from trainway.engine.notify.delivery import DeliveryError, deliver
from trainway.notify.message import HttpRequest


class Handler(BaseHTTPRequestHandler):
    """Answers with the status in the path, and keeps what it got."""

    got: list[bytes]

    def do_POST(self) -> None:
        type(self).got.append(self.rfile.read(int(self.headers["Content-Length"])))
        status = int(self.path[1:])
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", "/200")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        """Be quiet."""


@pytest.fixture
def address() -> Iterator[str]:
    Handler.got = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_it_arrives(address: str) -> None:
    deliver(HttpRequest(f"{address}/200", {"Content-Type": "text/plain"}, b"hello"))
    assert Handler.got == [b"hello"]


@pytest.mark.parametrize("status", [404, 302, 429, 503])
def test_it_does_not(address: str, status: int) -> None:
    is_final = status in (404, 302)
    with pytest.raises(DeliveryError, match=f"it answers {status} ") as raised:
        deliver(HttpRequest(f"{address}/{status}", {}, b"x"))
    assert raised.value.is_final == is_final
    assert len(Handler.got) == 1


def test_nobody_is_there(address: str) -> None:
    with pytest.raises(DeliveryError, match="it cannot be reached") as raised:
        deliver(HttpRequest("http://127.0.0.1:9/", {}, b"x"))
    assert not raised.value.is_final


@pytest.mark.parametrize("host", ["a..b", ".x", "a" * 300])
def test_a_host_that_no_host_can_be_called_is_no_other_try(host: str) -> None:
    with pytest.raises(DeliveryError, match="its URL cannot be used") as raised:
        deliver(HttpRequest(f"http://{host}/", {}, b"x"))
    assert raised.value.is_final


def test_what_somebody_says_is_shown_as_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            accepted, _ = listener.accept()
            with accepted:
                accepted.recv(4096)
                accepted.sendall(b"HTTP/1.1 400 \x00\x1b[31mno" + b"o" * 1000 + b"\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(DeliveryError) as raised:
            deliver(HttpRequest(f"http://127.0.0.1:{listener.getsockname()[1]}/", {}, b"x"))
        thread.join()
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400


def test_an_answer_that_never_ends_is_given_up() -> None:
    """Each of its bytes comes in time, and it would have the thread for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answering: list[socket.socket] = []

        def serve() -> None:
            accepted, _ = listener.accept()
            with accepted, suppress(OSError):
                accepted.recv(4096)
                answering.append(accepted)
                while True:
                    accepted.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        asked = HttpRequest(f"http://127.0.0.1:{listener.getsockname()[1]}/", {}, b"x")
        with pytest.raises(DeliveryError, match=r"had not answered after 0\.1 seconds") as raised:
            deliver(asked, whole_s=0.1)
        for each in answering:  # which Linux would have wait for two minutes to send the rest
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert raised.value.is_silent
