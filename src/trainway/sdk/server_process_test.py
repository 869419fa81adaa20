import sys
import threading
import time
from pathlib import Path

import pytest

from trainway import __version__
from trainway.errors import UnavailableError
from trainway.sdk import server_process
from trainway.sdk.address import Home, listens
from trainway.sdk.rest import Rest, embedded
from trainway.sdk.server_process import ServerProcess, last_lines, server_environment
from trainway.sdk.testing import FakeServer


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def program(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a shell script start in place of the server."""
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))


def test_a_server_that_runs_is_used(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[ServerProcess] = []
    monkeypatch.setattr(ServerProcess, "start", started.append)
    with FakeServer(home.path) as fake:
        assert ServerProcess(home).ensure().socket == str(fake.socket)
        assert (started, fake.requests) == ([], [])


def test_a_server_that_fails_is_explained_by_its_log(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.path.mkdir()
    home.log.write_text("from an earlier one\n")
    program(tmp_path, "echo one; echo '  two' >&2; exit 3", monkeypatch)
    with pytest.raises(UnavailableError) as caught:
        ServerProcess(home).ensure()
    assert caught.value.message == "the server did not start: it ended with status 3: one / two"
    assert caught.value.hint == f"the whole log is in {home.log}"


def test_the_reason_that_a_server_gives_is_enough(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "echo noise; echo 'error: the port is taken'; exit 1", monkeypatch)
    with pytest.raises(UnavailableError, match=r"ended with status 1: the port is taken$"):
        ServerProcess(home).start()


def test_a_server_that_never_answers_is_given_up(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "exec sleep 1", monkeypatch)
    monkeypatch.setattr(server_process, "START_LIMIT_S", 0.05)
    with pytest.raises(UnavailableError, match=r"it did not answer within 0 s$"):
        ServerProcess(home).start()


def test_a_second_server_that_ends_leaves_the_first(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, 'echo "$@" > "$4/new"; mv "$4/new" "$4/started"; exit 0', monkeypatch)
    servers: list[FakeServer] = []

    def start_the_first() -> None:
        while not (home.path / "started").exists():
            time.sleep(0.01)
        servers.append(FakeServer(home.path))

    thread = threading.Thread(target=start_the_first)
    thread.start()
    address = ServerProcess(home).start(["--listen", "localhost:1"])
    thread.join()
    assert address.socket == str(servers[0].socket)
    servers[0].close()
    started = (home.path / "started").read_text()
    assert started == f"-m trainway.server --home {home.path} --listen localhost:1\n"


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="file/home: Not a directory") as caught:
        ServerProcess(Home(tmp_path / "file" / "home")).ensure()
    assert caught.value.hint == "set TRAINWAY_HOME to another directory"


def test_an_idle_server_of_another_version_is_replaced(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeServer(home.path, version="0.0.1")
    monkeypatch.setattr(ServerProcess, "start", lambda self: self.home.address({}))
    assert ServerProcess(home).ensure() == home.address({})
    assert not listens(home.address({}))


def test_a_busy_server_of_another_version_stays_with_a_warning(home: Home) -> None:
    warnings: list[str] = []
    with FakeServer(home.path, version="0.0.1") as fake:
        fake.add_job("a", "Running")
        assert Rest(embedded(home, warnings.append)).get("a")["status"]["phase"] == "Running"
    (warning,) = warnings
    assert warning.startswith(f"the running server is version 0.0.1, this is {__version__}; it is")


def test_stopping_waits_until_it_is_gone(home: Home) -> None:
    FakeServer(home.path)
    assert ServerProcess(home).stop()
    assert not listens(home.address({}))
    assert not ServerProcess(home).stop()


def test_a_server_does_not_belong_to_the_job_that_starts_it() -> None:
    environ = {"PATH": "/bin", "TRAINWAY_JOB_ID": "x", "TRAINWAY_TOKEN": "t", "TRAINWAY_HOME": "h"}
    assert server_environment(environ) == {"PATH": "/bin", "TRAINWAY_HOME": "h"}


def test_the_last_lines_of_no_log_are_none(home: Home) -> None:
    assert last_lines(home, 5) == []
