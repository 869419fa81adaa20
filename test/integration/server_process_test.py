"""The server as a process: how it starts, stays, goes, and what the next one finds."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from trainway.engine.testing import WAIT_FOR_FILE, jobset
from trainway.server.testing import LIMIT_S, RunningServer, Starts


def test_a_second_server_leaves_the_first_alone(server: RunningServer) -> None:
    command = [sys.executable, "-m", "trainway.server", "--home", str(server.home)]
    assert subprocess.run(command, timeout=LIMIT_S, check=False).returncode == 0
    assert server.request("GET", "/health").status == 200


def test_an_idle_server_goes_and_leaves_nothing_to_connect_to(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trainway.server", "--home", str(tmp_path)]
    done = subprocess.run([*command, "--idle-seconds", "0.2"], timeout=LIMIT_S, check=False)
    assert done.returncode == 0
    assert not (tmp_path / "server.sock").exists()
    assert not (tmp_path / "server.json").exists()


def test_a_server_with_work_stays(tmp_path: Path, starts: Starts) -> None:
    go = tmp_path / "go"
    server = starts(RunningServer(tmp_path / "home"))
    server.submit(jobset("work", WAIT_FOR_FILE.format(go)))
    server.stop()
    busy = RunningServer(server.home, "--idle-seconds", "0.2")
    busy.start()  # what comes now is the time that it has work
    assert busy.process is not None
    with pytest.raises(subprocess.TimeoutExpired):
        busy.process.wait(2)
    go.touch()
    assert busy.process.wait(LIMIT_S) == 0


def test_a_stopped_server_ends_streams_and_the_next_one_goes_on(
    tmp_path: Path, starts: Starts
) -> None:
    go = tmp_path / "go"
    server = starts(RunningServer(tmp_path / "home"))
    server.submit(jobset("on", f"echo one; {WAIT_FOR_FILE.format(go)}; echo two"))
    events = server.stream("/jobs/on/logs?follow=true")
    first = next(events)
    server.request("POST", "/server/stop")
    assert list(events) == []
    assert server.process is not None
    assert server.process.wait(LIMIT_S) == 0
    go.touch()
    server.start()
    rest = [e.data["text"] for e in server.stream("/jobs/on/logs?follow=true", first.id) if e.data]
    assert rest == ["two"]
    assert server.wait("on")["status"]["phase"] == "Succeeded"


def test_a_home_that_cannot_be_used_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "trainway.db").mkdir()
    unusable = (tmp_path, "disk I/O error")
    for home, reason in ((tmp_path / "file", "File exists"), unusable):
        command = [sys.executable, "-m", "trainway.server", "--home", str(home)]
        ended = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False)
        assert ended.returncode == 1
        line, *hints = ended.stderr.decode().splitlines()
        assert line.startswith("error: ")
        assert line.endswith(reason)
        assert all(hint.startswith("hint: ") for hint in hints)
        assert len(hints) <= 1


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "trainway.server", "--home", str(tmp_path)]
        ended = subprocess.run(
            [*command, "--listen", f"127.0.0.1:{port}"],
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr.decode() == (
        f"error: cannot listen on 127.0.0.1:{port}: Address already in use\n"
    )
