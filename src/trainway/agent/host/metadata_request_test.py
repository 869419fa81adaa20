"""Questions to a metadata service that answers, hangs, lies, or is not there."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass

import pytest

from trainway.agent.base.event_loop import EventLoop
from trainway.agent.host.metadata_request import LIMIT, Answer, MetadataRequest, Question

QUESTION = Question("/path", {"Metadata": "true"})
TIMEOUT = 0.2


def asked(address: tuple[str, int]) -> list[Answer | None]:
    """What is called back with, and never twice."""
    loop, found = EventLoop(), list[Answer | None]()
    MetadataRequest(loop, address, QUESTION, found.append, TIMEOUT)
    loop.call_later(TIMEOUT * 2, loop.stop)
    while not found:
        loop.turn()
    loop.call_soon(loop.stop)
    loop.run()
    return found


def served(data: bytes, *, closes: bool) -> tuple[list[Answer | None], bytes]:
    """What comes of an answer, and what was asked."""
    heard = []
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            accepted, _ = listener.accept()
            with accepted:
                heard.append(accepted.recv(4096))
                try:
                    accepted.sendall(data)
                except OSError:
                    return  # it was too much
                if not closes:
                    over.wait(10)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        found = asked(listener.getsockname()[:2])
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
