"""Searches whose server is killed, or cannot write: no trial is lost, doubled or one too many."""

import random
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from gate import Gate, Visitor
from installation import Installation, installed
from patience import until
from small_disk import filled, small_disk
from store_faults_test import locked, refused

from trainway.server.testing import RunningServer

PARALLEL: Final = 3
COMMANDS: Final = (
    ("tune", "--continue", "rates", "--trials", "+1"),
    ("runs", "cancel", "rates"),
    ("tune", "--param", "lr=1,2", "--objective", "loss", "--", "true"),
)
"""What cannot be done while nothing can be written."""
PAUSE_S: Final = 0.4
"""A server that answers is killed after at most this time."""


@dataclass
class Search:
    """A search whose trials wait at a gate, and what was seen of them."""

    home: Installation
    server: RunningServer
    gate: Gate
    trials: int
    waiting: list[Visitor] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    most: int = 0

    def submit(self) -> None:
        """Begin it; every trial prints its loss and waits."""
        visit = shlex.join(self.gate.command())
        script = f"echo step: 1, loss: {{lr}}; exec {visit}"
        asked = ("--objective", "loss", "--metrics-from-logs", "--param", "lr=uniform:0:1")
        size = ("--trials", str(self.trials), "--parallel", str(PARALLEL), "--seed", "7")
        words = ("tune", "--detach", "--name", "rates", "--cpus", "0.1", *asked, *size)
        self.home.run(*words, "--", "sh", "-c", script)

    def look(self) -> None:
        """Take in whoever has come to the gate."""
        while not self.gate.nobody_waits():
            self.next()

    def next(self) -> None:
        """Wait for a trial."""
        visitor = self.gate.next()
        self.waiting.append(visitor)
        self.seen[visitor.env["TRAINWAY_JOB_ID"]] += 1
        self.most = max(self.most, len(self.waiting))

    def let_go(self, number: int = 0, code: int = 0) -> None:
        """Let one of those that wait end."""
        self.waiting.pop(number).let_go(code)

    def finish(self) -> dict[str, Any]:
        """Let all trials end, and give the run."""
        while len(self.seen) < self.trials:
            if self.waiting:
                self.let_go()
            self.next()
        while self.waiting:
            self.let_go()
        until(lambda: self.run()["status"]["search"] is not None, "the search does not end")
        return self.run()

    def run(self) -> dict[str, Any]:
        """The search as the server tells it."""
        found: dict[str, Any] = self.server.request("GET", "/runs/rates").body
        return found

    def audit(self, run: dict[str, Any]) -> None:
        """Every trial was created once, ran once, and had a place of its own."""
        jobs = run["jobs"]
        names = [job["metadata"]["name"] for job in jobs]
        assert names == [f"rates-{number}" for number in range(self.trials)]
        assert self.seen == Counter(job["metadata"]["id"] for job in jobs)
        assert len({job["spec"]["parameters"]["lr"] for job in jobs}) == self.trials
        assert self.gate.nobody_waits()
        assert self.most <= PARALLEL


@contextmanager
def served(home: Installation) -> Iterator[RunningServer]:
    """A server that gives up soon when it cannot write."""
    server = RunningServer(home.home, "--busy-seconds", "0.2")
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def server(home: Installation) -> Iterator[RunningServer]:
    """That of the home of the test."""
    with served(home) as server:
        yield server


@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.stress)])
def test_killed_servers_lose_and_double_no_trial(
    home: Installation, server: RunningServer, gate: Gate, kills: int
) -> None:
    """One trial is let go for each kill, so that the search goes on until the last of them."""
    chance = random.Random(kills)  # noqa: S311 (when to kill, no secret)
    search = Search(home, server, gate, trials=kills + PARALLEL)
    search.submit()
    failed = 0
    for number in range(kills):
        search.look()
        if not search.waiting:
            search.next()
        code = int(chance.random() < 0.2)
        failed += code
        search.let_go(chance.randrange(len(search.waiting)), code)
        time.sleep(chance.uniform(0, PAUSE_S))
        server.kill()
        if number % 5 == 4:
            kill_while_it_starts(home.home, chance.uniform(0, 1))
        server.start()
    run = search.finish()

    search.audit(run)
    best = run["search"]["best"]
    succeeded = [job for job in run["jobs"] if job["status"]["phase"] == "Succeeded"]
    assert len(succeeded) == search.trials - failed
    assert best["value"] == min(float(job["spec"]["parameters"]["lr"]) for job in succeeded)


def kill_while_it_starts(home: Path, after_s: float) -> None:
    """A server that may not live long enough to answer."""
    command = [sys.executable, "-m", "trainway.server", "--home", str(home)]
    with subprocess.Popen(command) as process:
        time.sleep(after_s)
        process.kill()


def test_a_search_goes_on_when_the_database_can_be_written_again(
    home: Installation, server: RunningServer, gate: Gate
) -> None:
    search = Search(home, server, gate, trials=PARALLEL + 2)
    search.submit()
    for _ in range(PARALLEL):
        search.next()
    database = home.home / "trainway.db"
    with locked(database):
        search.let_go()
        for words in COMMANDS:
            said = refused(home, *words)
            assert said.startswith(f"error: the database {database} is locked by another program\n")
            assert len(said.splitlines()) == 2, said
        assert "rates: 3 of 5 trials" in home.run("runs", "show", "rates")
    search.audit(search.finish())


def test_a_search_goes_on_when_there_is_room_on_the_disk_again(tmp_path: Path, gate: Gate) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk), installed(disk / "home") as home, served(home) as server:
        search = Search(home, server, gate, trials=PARALLEL + 1)
        search.submit()
        for _ in range(PARALLEL):
            search.next()
        with filled(disk):
            search.let_go()
            for words in COMMANDS:
                said = refused(home, *words)
                full = f"the disk of the database {home.home}/trainway.db is full"
                assert said.startswith(f"error: {full}\n")
                assert len(said.splitlines()) == 2, said
        search.audit(search.finish())
        home.run("runs", "delete", "rates")
