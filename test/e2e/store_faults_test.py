"""A database that cannot be written, as users meet it: what is refused is said, and not done."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from gate import Gate
from installation import TIMEOUT_S, Installation, installed
from small_disk import filled, small_disk

from trainway.server.testing import RunningServer

LOCK = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""
ALL_CPUS = ("--cpus", str(len(os.sched_getaffinity(0))))


@contextlib.contextmanager
def locked(database: Path) -> Iterator[None]:
    """Another program writes to the database, and takes its time."""
    command = [sys.executable, "-c", LOCK, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        yield
        process.communicate(timeout=TIMEOUT_S)


def refused(home: Installation, *words: str) -> str:
    """What a command says that fails as it should."""
    process = home.start(*words)
    said, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1, said
    assert "Traceback" not in said
    return said


def test_what_cannot_be_written_while_the_database_is_locked_does_not_happen(
    home: Installation, gate: Gate
) -> None:
    server = RunningServer(home.home, "--busy-seconds", "0.2")
    server.start()
    home.submit("--name", "first", *ALL_CPUS, "--", *gate.command("first"))
    first = gate.next()
    home.submit("--name", "second", *ALL_CPUS, "--", *gate.command("second"))
    home.submit("--name", "third", *ALL_CPUS, "--", *gate.command("third"))
    database = home.home / "trainway.db"

    with locked(database):
        for words in (("cancel", "second"), ("delete", "second"), ("suspend", "first")):
            said = refused(home, "jobs", *words)
            assert f"error: the database {database} is locked by another program\n" in said
            assert f"hint: fuser {database} shows which" in said
        assert "is locked" in refused(home, "run", "--detach", "--name", "new", "--", "true")
        assert home.look("second")["status"]["phase"] == "Queued"
    home.run("jobs", "cancel", "third")
    server.kill()
    first.let_go()

    home.run("jobs", "wait", "first")
    second = gate.next()
    assert second.name == "second"
    second.let_go()
    home.run("jobs", "wait", "second")
    phases = {
        job["metadata"]["name"]: job["status"]["phase"]
        for job in home.json("jobs", "list", "--all")["items"]
    }
    assert phases == {"first": "Succeeded", "second": "Succeeded", "third": "Cancelled"}


def test_a_full_disk_is_said_by_every_command(tmp_path: Path, gate: Gate) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk), installed(disk / "home") as home:
        home.submit("--name", "first", *ALL_CPUS, "--", *gate.command())
        first = gate.next()
        home.submit("--name", "second", *ALL_CPUS, "--", *gate.command())
        full = f"the disk of the database {home.home}/trainway.db is full"
        with filled(disk) as fill:
            for words in (("cancel", "second"), ("delete", "second"), ("suspend", "second")):
                assert full in refused(home, "jobs", *words)
            assert full in refused(home, "run", "--detach", "--", "true")
            listing = home.start("jobs", "list")
            assert f"warning: the disk of {home.home} is full" in listing.communicate()[0]
            assert listing.returncode == 0
            fill()
            stacks = home.run("jobs", "stacks", "first")
            assert "visitor.py:" in stacks
            assert stacks.endswith("\n\nthe stacks could not be kept: No space left on device\n")

            home.run("server", "stop")
            fill()
            for command in ("jobs list", "jobs cancel second", "run -- true"):
                said = refused(home, *command.split())
                assert f"error: the disk of {home.home} is full, so the server cannot" in said
                assert len(said.splitlines()) == 2, said

        assert home.phase("second") == "Queued"
        first.let_go()
        gate.next().let_go()
        home.run("jobs", "wait", "second")
        home.run("jobs", "delete", "first", "second")
