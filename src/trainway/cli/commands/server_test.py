import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trainway import __version__
from trainway.cli.app import app
from trainway.cli.commands import server as module
from trainway.sdk.address import Address
from trainway.sdk.server_process import ServerProcess
from trainway.sdk.testing import FakeServer


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    return tmp_path / "home"


@pytest.fixture
def fake(home: Path) -> Iterator[FakeServer]:
    with FakeServer(home) as server:
        yield server


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, args, prog_name="trainway")


def test_a_server_that_runs_is_told_of(fake: FakeServer) -> None:
    result = invoke("server", "status", "-o", "json")
    info = json.loads(result.stdout)
    assert (info["pid"], info["socket"], info["version"]) == (1, str(fake.socket), __version__)
    assert info["jobs"] == {"active": 0, "total": 0}
    assert "Jobs:     0 active, 0 in all\n" in invoke("server", "status").stdout
    assert "pid: 1\n" in invoke("server", "status", "-o", "yaml").stdout


def test_asking_for_the_server_does_not_start_it() -> None:
    result = invoke("server", "status")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (3, "error: no server is running")


def test_a_server_is_named_by_the_environment(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINWAY_SERVER", f"unix:{fake.socket}")
    monkeypatch.setenv("TRAINWAY_HOME", "/nowhere")
    assert invoke("server", "status").exit_code == 0


def test_a_server_starts_with_its_options(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[str]] = []

    def start(process: ServerProcess, options: list[str]) -> object:
        given.append(options)
        return process.home.address({})

    monkeypatch.setattr(ServerProcess, "start", start)
    token = tmp_path / "token"
    token.write_text("t")
    result = invoke("server", "start", "--listen", "0.0.0.0:80", "--token-file", str(token))
    assert result.stderr.splitlines() == [
        f"the server listens on unix:{home}/server.sock and http://0.0.0.0:80",
        f"clients on other machines need its token: TRAINWAY_TOKEN=... (the one in {token})",
    ]
    assert given == [["--listen", "0.0.0.0:80", "--token-file", str(token)]]


def test_the_token_is_shown_and_replaced(fake: FakeServer, home: Path) -> None:
    result = invoke("server", "token", "show")
    assert (result.exit_code, result.stderr.splitlines()) == (
        3, [f"error: there is no token in {home}/token",
            "hint: trainway server token rotate makes one"],
    )  # fmt: skip
    (home / "token").write_text("secret\n")
    assert invoke("server", "token", "show").stdout == "secret\n"
    assert invoke("server", "token", "rotate").stderr == (
        "the token was replaced; trainway server token show prints the new one\n"
    )
    assert fake.requests[-1][:2] == ("POST", "/api/v1/server/token")


@pytest.mark.parametrize("listen", ["80", ":80", "host:", "host:x"])
def test_a_wrong_address_is_refused(listen: str) -> None:
    result = invoke("server", "start", "--listen", listen)
    assert result.exit_code == 2
    assert f"{listen!r} is not HOST:PORT" in result.stderr


def test_a_server_that_runs_is_not_started_again(fake: FakeServer) -> None:
    assert invoke("server", "start").stderr == "the server is already running\n"
    assert fake.requests == []


def test_a_server_that_runs_is_replaced_by_one_that_listens_elsewhere(
    fake: FakeServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServerProcess, "start", lambda self, _options: self.home.address({}))
    assert invoke("server", "start", "--listen", "localhost:80").stderr.splitlines()[:2] == [
        "the server was restarted so that it listens there; jobs keep running",
        f"the server listens on unix:{home}/server.sock and http://localhost:80",
    ]
    assert ("POST", "/api/v1/server/stop") in [request[:2] for request in fake.requests]


def test_a_server_that_runs_is_replaced_by_one_with_another_log(
    fake: FakeServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []

    def started(self: ServerProcess, options: list[str]) -> Address:
        given.extend(options)
        return self.home.address({})

    monkeypatch.setattr(ServerProcess, "start", started)
    assert invoke("server", "start", "--log-format", "json").stderr.splitlines() == [
        "the server was restarted with these options; jobs keep running",
        f"the server listens on unix:{home}/server.sock",
    ]
    assert given == ["--log-format", "json"]
    assert invoke("server", "start", "--log-format", "xml").exit_code == 2


def test_a_server_is_stopped(home: Path) -> None:
    FakeServer(home)
    assert invoke("server", "stop").stderr == "the server has stopped\n"
    assert invoke("server", "stop").stderr == "no server is running\n"


def test_the_log_of_the_server_is_printed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert invoke("server", "logs").exit_code == 3
    home.mkdir()
    log = home / "server.log"
    log.write_bytes(b"one\ntwo\xff\n")
    assert invoke("server", "logs").stdout_bytes == b"one\ntwo\xff\n"
    assert invoke("server", "logs", "--tail", "1").stdout_bytes == b"two\xff\n"
    assert invoke("server", "logs", "--tail", "0").stdout == ""

    def sleep(_seconds: float) -> None:
        if log.read_bytes().endswith(b"three\n"):
            raise KeyboardInterrupt
        with log.open("a") as file:
            file.write("three\n")

    monkeypatch.setattr(module, "sleep", sleep)
    result = invoke("server", "logs", "-f", "--tail", "0")
    assert (result.exit_code, result.stdout) == (130, "three\n")


def test_a_log_is_followed_into_the_next_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    log = home / "server.log"
    log.write_text("one\n")
    steps = iter(("two\n", "", "four\n"))

    def sleep(_seconds: float) -> None:
        text = next(steps, None)
        if text is None:
            raise KeyboardInterrupt
        if text:
            with log.open("a") as file:
                file.write(text)
        else:
            with log.open("a") as file:
                file.write("last\n")
            log.replace(log.with_name("server.log.1"))
            log.write_text("three\n")

    monkeypatch.setattr(module, "sleep", sleep)
    result = invoke("server", "logs", "-f")
    assert (result.exit_code, result.stdout) == (130, "one\ntwo\nlast\nthree\nfour\n")


CAPACITY = {"cpu": "4", "memory": "8Gi", "gpus": ["0", "1"]}


def test_doctor_says_what_works_and_how_to_mend_the_rest(fake: FakeServer) -> None:
    good = {"name": "python", "ok": True, "detail": "3.13", "fix": ""}
    bad = {"name": "sbatch", "ok": False, "detail": "not found", "fix": "install slurm"}
    capacity = {"total": CAPACITY, "free": {**CAPACITY, "cpu": "1500m", "gpus": ["1"]}}
    fake.backends = [
        {
            "name": "local", "checks": [good], "capabilities": {"images": "no podman", "gpus": ""},
            "capacity": capacity,
        },
        {"name": "slurm", "checks": [bad], "capabilities": {}, "capacity": None},
    ]  # fmt: skip
    result = invoke("doctor")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1:] == [
        f"  ok  server: version {__version__} at unix:{fake.socket}",
        "",
        "local: 1500m of 4 CPUs, 8.0 of 8.0 GiB memory, 1 of 2 GPUs free",
        "  ok  python: 3.13",
        "      no images: no podman",
        "",
        "slurm",
        "  no  sbatch: not found",
        "      install slurm",
    ]
    report = json.loads(invoke("doctor", "-o", "json").stdout)
    assert report["backends"] == fake.backends
    assert invoke("doctor", "--deep", "--any").exit_code == 0
    checks = [body for _, path, body in fake.requests if path.endswith("/backends/check")]
    assert [body["deep"] for body in checks] == [False, False, True]
    fake.backends = fake.backends[1:]
    assert invoke("doctor", "-o", "yaml", "--any").exit_code == 1
    fake.backends = [{**fake.backends[0], "checks": [good]}]
    assert invoke("doctor").exit_code == 0


def test_doctor_survives_a_server_that_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWAY_SERVER", "http://localhost:1")
    result = invoke("doctor")
    assert result.exit_code == 1
    assert "  no  server: no server listens on http://localhost:1\n" in result.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_their_completion(shell: str) -> None:
    text = invoke("completion", shell).stdout
    assert f"_TRAINWAY_COMPLETE={shell}_complete" in text
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
