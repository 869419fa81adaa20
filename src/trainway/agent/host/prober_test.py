"""Probes of real sockets on the loopback address."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest

from trainway.agent.base.event_loop import EventLoop
from trainway.agent.host.prober import Probe

HERE = "127.0.0.1"


def reached(peers: list[tuple[str, int]], timeout: float) -> int:
    loop, answers = EventLoop(), []

    def done(count: int) -> None:
        answers.append(count)
        loop.stop()

    Probe(loop, peers, done, timeout)
    loop.run()
    return answers[0]


@contextlib.contextmanager
def listening() -> Iterator[tuple[socket.socket, tuple[str, int]]]:
    with socket.socket() as listener:
        listener.bind((HERE, 0))
        listener.listen()
        yield listener, (HERE, listener.getsockname()[1])


@pytest.fixture
def closed() -> Iterator[tuple[str, int]]:
    with socket.socket() as taken:
        taken.bind((HERE, 0))
        yield HERE, taken.getsockname()[1]


class Sshd:
    """Says what an SSH server says first, to whoever has connected."""

    def __init__(self, loop: EventLoop, listener: socket.socket, banner: bytes) -> None:
        self._listener = listener
        self._banner = banner
        loop.watch(listener.fileno(), on_readable=self._greet)

    def _greet(self) -> None:
        accepted, _ = self._listener.accept()
        with accepted:
            accepted.send(self._banner)


def test_those_count_that_say_they_are_an_ssh_server(closed: tuple[str, int]) -> None:
    loop, answers = EventLoop(), []

    def done(count: int) -> None:
        answers.append(count)
        loop.stop()

    with listening() as (first, one), listening() as (second, two), listening() as (third, three):
        Sshd(loop, first, b"SSH-2.0-OpenSSH_9\r\n")
        Sshd(loop, second, b"HTTP/1.1 400 Bad Request\r\n")
        Sshd(loop, third, b"SSH-2.0-other\r\n")
        Probe(loop, [one, two, three, closed, ("no such name", 22)], done, 30.0)
        loop.run()
    assert answers == [2]


def test_a_peer_that_says_nothing_does_not_count() -> None:
    with listening() as (_, silent):
        assert reached([silent], 0.05) == 0


def test_without_peers_none_answers() -> None:
    assert reached([], 30.0) == 0
