"""Questions to a metadata service that answers, hangs, lies, or is not there."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from trainway.agent.base.event_loop import EventLoop, Timer
from trainway.agent.host.metadata_request import LIMIT, TIMEOUT, Answer, MetadataRequest, Question

QUESTION = Question("/path", {"Metadata": "true"})
PATIENCE = 60.0


class Loop(EventLoop):
    """A loop in which the time is up when a test says so."""

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        self.delay, self.time_is_up = delay, callback
        return super().call_later(delay + PATIENCE, callback)


def asked(address: tuple[str, int], sent: threading.Event | None = None) -> list[Answer | None]:
    """What is called back with, and never twice; the time is up when what was sent is read."""
    loop, found = Loop(), list[Answer | None]()
    MetadataRequest(loop, address, QUESTION, found.append)
    assert loop.delay == TIMEOUT
    time_is_up = loop.time_is_up
    while not found:
        is_sent = sent is not None and sent.is_set()
        if sent is not None:
            EventLoop.call_later(loop, 0.01, lambda: None)  # a turn ends, whatever happens
        loop.turn()
        if is_sent:
            time_is_up()
    loop.call_soon(loop.stop)
    loop.run()
    return found


def served(data: bytes, *, closes: bool) -> tuple[list[Answer | None], bytes]:
    """What comes of an answer, and what was asked."""
    heard = []
    sent, over = threading.Event(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            accepted, _ = listener.accept()
            with accepted:
                heard.append(accepted.recv(4096))
                try:
                    accepted.sendall(data)
                except OSError:
                    return  # it was too much
                sent.set()
                if not closes:
                    over.wait(PATIENCE)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        found = asked(listener.getsockname()[:2], None if closes else sent)
        over.set()
        thread.join()
    return found, heard[0]


@dataclass(frozen=True)
class Case:
    name: str
    data: bytes
    status: int | None
    """Of the answer; None: there is none."""
    body: str = ""
    closes: bool = True


HEAD = b"HTTP/1.1 200 OK\r\n"
CASES = [
    Case("with a length", HEAD + b"Content-Length: 3\r\n\r\nyes", 200, "yes"),
    Case("without one", HEAD + b"\r\nyes", 200, "yes"),
    Case(
        "in chunks", HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nyes\r\n0\r\n\r\n", 200, "yes"
    ),
    Case("not found", b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404),
    Case("and the line stays", HEAD + b"Content-Length: 3\r\n\r\nyes", 200, "yes", closes=False),
    Case("too short", HEAD + b"Content-Length: 9\r\n\r\nyes", None),
    Case("nothing", b"", None),
    Case("nothing, for ever", b"", None, closes=False),
    Case("no HTTP", b"SSH-2.0-OpenSSH\r\n", None),
    Case("too much", HEAD + b"\r\n" + b"x" * (LIMIT + 1), None),
    Case("a length beyond memory", HEAD + b"Content-Length: %d\r\n\r\nyes" % 10**30, None),
    Case(
        "a chunk beyond memory",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"F" * 30 + b"\r\nyes",
        None,
    ),
    Case("a length that is none", HEAD + b"Content-Length: x\r\n\r\nyes", 200, "yes"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_answer_is_taken_for_what_it_is(case: Case) -> None:
    (found,), question = served(case.data, closes=case.closes)
    assert (None if found is None else (found.status, found.body)) == (
        None if case.status is None else (case.status, case.body)
    )
    assert question.startswith(b"GET /path HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n")
    assert b"Metadata: true\r\n\r\n" in question


@pytest.mark.parametrize("address", [("127.0.0.1", 1), ("metadata.google.internal", 80)])
def test_where_nobody_answers_nothing_is_waited_for(address: tuple[str, int]) -> None:
    assert asked(address) == [None]
