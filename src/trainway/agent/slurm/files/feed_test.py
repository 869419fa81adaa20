"""What a feed does on a node whose disk is full."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.slurm.files.feed import NodeFeed
from trainway.agent.transfer.connection import Connection


class Node:
    """A node with a driver whose signals are noted."""

    def __init__(self, path: Path, inner: socket.socket) -> None:
        loop = EventLoop()
        self.feed = NodeFeed(Directory(str(path)), loop, lambda: 0.0)
        self.connection = Connection(inner, loop, self.feed.handle, lambda _connection: None)
        self.signals: list[int] = []
        (path / "driver").write_text("4711")

    def kill(self, pid: int, number: int) -> None:
        assert pid == 4711
        self.signals.append(number)


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    inner, outer = socket.socketpair()
    with inner, outer:
        node = Node(tmp_path, inner)
        monkeypatch.setattr(os, "kill", node.kill)
        yield node


def test_a_driver_is_told_what_is_wanted_of_it(node: Node, tmp_path: Path) -> None:
    node.feed.handle(node.connection, {"op": "ping"})
    node.feed.handle(node.connection, {"op": "wish", "word": "cancel"})
    assert (tmp_path / "heard").exists()
    assert (tmp_path / "wish").read_text() == "cancel"
    assert node.signals == [0, signal.SIGTERM]


def test_a_driver_that_cannot_be_told_is_not_asked_to_end(node: Node, tmp_path: Path) -> None:
    for name in ("heard.new", "wish.new"):
        (tmp_path / name).mkdir()  # so that neither can be written, as on a full disk
    node.feed.handle(node.connection, {"op": "ping"})
    node.feed.handle(node.connection, {"op": "wish", "word": "cancel"})
    assert node.signals == []


def test_a_driver_is_told_how_many_nodes_it_may_have(node: Node, tmp_path: Path) -> None:
    node.feed.handle(node.connection, {"op": "limit", "nodes": 3})
    assert (tmp_path / "node-limit").read_text() == "3"
    assert node.signals == []
