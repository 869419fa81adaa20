"""What a relay keeps open for jobs that it does not follow: nothing."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.clock import Clock
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.slurm.commands import Commands
from trainway.agent.slurm.files.job_files import JobFiles
from trainway.agent.slurm.relay.operations import RelayOperations
from trainway.agent.transfer.blobs import Blobs
from trainway.agent.transfer.connection import Connection
from trainway.json_types import Json

PATIENCE = 60.0


class Login:
    """A relay on a machine without any program of Slurm's."""

    def __init__(self, path: Path, inner: socket.socket, outer: socket.socket) -> None:
        self.path = path
        self.loop = EventLoop()
        self.home = Directory(str(path))
        self._outer = outer
        self._received = b""
        commands = Commands(self.loop, {"PATH": str(path)})
        self.relay = RelayOperations(self.loop, Clock(), self.home, Blobs(self.home), commands)
        self._connection = Connection(
            inner, self.loop, self.relay.handle, lambda _connection: self.loop.stop()
        )
        self.relay.serve(self._connection)
        outer.setblocking(False)
        self.ask(op="hello")
        self._until(lambda: self.relay._is_configured)

    def ask(self, **frame: Any) -> Json:
        """Ask something; the answer."""
        self.relay.handle(self._connection, frame)
        answers: list[Json] = []

        def is_answered() -> bool:
            answers.extend(said for said in self._heard() if said["event"] == "answer")
            return bool(answers)

        self._until(is_answered)
        return answers[0]

    def _until(self, is_so: Callable[[], bool]) -> None:
        give_up = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < give_up
            self.loop.call_later(0.05, lambda: None)
            self.loop.turn()

    def _heard(self) -> list[Json]:
        try:
            data = self._outer.recv(1 << 16)
        except BlockingIOError:
            return []
        *lines, self._received = (self._received + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def open_files(self) -> list[str]:
        """Directories of jobs that are open in this process."""
        folder = "/proc/self/fd"
        links = [f"{folder}/{name}" for name in os.listdir(folder)]
        found = [os.readlink(link) for link in links if os.path.lexists(link)]
        return [path for path in found if path.startswith(f"{self.path}/jobs/")]


@pytest.fixture
def login(tmp_path: Path) -> Iterator[Login]:
    (tmp_path / "jobs").mkdir()
    inner, outer = socket.socketpair()
    with inner, outer:
        yield Login(tmp_path, inner, outer)


def test_a_job_that_cannot_be_submitted(login: Login) -> None:
    digest = "0" * 64
    plan = {"id": "a", "objects": [{"kind": "Secret", "data": {"x": {"$blob": digest}}}]}
    answer = login.ask(op="submit", id="a", plan=plan, script="")
    assert answer["error"] == f"blobs are missing: {digest}"
    assert login.open_files() == []


def test_a_job_that_cannot_be_looked_for_while_slurm_is_away(login: Login) -> None:
    files = JobFiles(login.home, "a", make=True)
    files.begin_submission()
    files.close()
    answer = login.ask(op="track", id="a")
    assert (answer["ok"], answer["retry"]) == (False, True)
    assert login.open_files() == []


def test_how_many_nodes_a_job_may_have_is_on_the_disk_before_it_is_answered(login: Login) -> None:
    files = JobFiles(login.home, "a", make=True)
    files.directory.make("logs")
    files.set_number("7")
    files.close()
    said = login.ask(op="resize", id="a", nodes=3)
    assert said["ok"], said
    assert (login.path / "jobs/a/node-limit").read_text() == "3"
    assert "none" in login.ask(op="resize", id="a", nodes="none")["error"]
    assert not login.ask(op="resize", id="b", nodes=3)["ok"]
