import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trainway.cli import attach
from trainway.cli.app import app
from trainway.sdk.testing import FakeServer

PLACE = {
    "job": "id0000",
    "pod": "a-node-0-0-x",
    "container": "main",
    "containers": ["main", "side"],
    "namespace": "n",
    "context": "c",
    "kubeconfig": ["/k1", "/k2"],
}
PROGRAM = [sys.executable, "-P", "-m", "trainway.kube.attach"]
WHERE = [
    *("--kubeconfig", "/k1", "--kubeconfig", "/k2", "--context", "c"),
    *("--namespace", "n", "--pod", "a-node-0-0-x"),
]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    with FakeServer(tmp_path / "home") as server:
        server.add_job("a", "Running")
        server.pods[None, None] = PLACE
        yield server


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The programs that this process would have become."""
    programs: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _path, words: programs.append(words))
    return programs


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, ["jobs", *args], prog_name="trainway")


def test_exec(fake: FakeServer, executed: list[list[str]]) -> None:
    assert invoke("exec", "a", "-it", "--", "ls", "-l", "--role").exit_code == 0
    options = ["--container", "main", "--stdin", "--tty"]
    assert executed == [[*PROGRAM, "exec", *WHERE, *options, "--", "ls", "-l", "--role"]]


def test_exec_in_another_pod_and_container(fake: FakeServer, executed: list[list[str]]) -> None:
    fake.pods["worker", "1"] = PLACE | {"context": "", "kubeconfig": []}
    words = ["exec", "a", "--role", "worker", "--rank", "1", "-c", "side", "--", "true"]
    assert invoke(*words).exit_code == 0
    where = ["--namespace", "n", "--pod", "a-node-0-0-x", "--container", "side"]
    assert executed == [[*PROGRAM, "exec", *where, "--", "true"]]


def test_a_container_that_is_not_there(fake: FakeServer, executed: list[list[str]]) -> None:
    result = invoke("exec", "a", "-c", "x", "--", "true")
    assert (result.exit_code, executed) == (2, [])
    assert result.stderr.splitlines() == [
        "error: a-node-0-0-x has no container x",
        "hint: there are main, side",
    ]


def test_a_shell(fake: FakeServer, executed: list[list[str]]) -> None:
    assert invoke("shell", "a").exit_code == 0
    (words,) = executed
    assert words[: len(PROGRAM) + 1] == [*PROGRAM, "exec"]
    assert words[-7:-2] == ["--container", "main", "--stdin", "--", "sh"]


def test_port_forward(fake: FakeServer, executed: list[list[str]]) -> None:
    assert invoke("port-forward", "a", "6006", ":80").exit_code == 0
    assert executed == [[*PROGRAM, "port-forward", *WHERE, "--", "6006", ":80"]]


def test_without_packages_it_says_what_to_install(
    fake: FakeServer, executed: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(name: str) -> ModuleSpec | None:
        return None if name == "aiohttp" else ModuleSpec(name, None)

    monkeypatch.setattr(attach, "find_spec", found)
    result = invoke("port-forward", "a", "80")
    assert (result.exit_code, executed) == (1, [])
    assert result.stderr.splitlines() == [
        "error: pods need packages that are not installed: aiohttp",
        "hint: pip install 'trainway[kubernetes]'",
    ]


@pytest.mark.parametrize(
    "words", [("exec", "b", "--", "true"), ("shell", "b"), ("port-forward", "b", "80")]
)
def test_a_wrong_name_ends_with_3(
    fake: FakeServer, executed: list[list[str]], words: tuple[str, ...]
) -> None:
    result = invoke(*words)
    assert (result.exit_code, executed) == (3, [])


REMOTE = {
    **PLACE,
    "host": "a1",
    "program": ["ssh", "-p", "2222", "me@a1"],
    "remote": {"main": "python3 -c 'x' id0000 7"},
}


@pytest.mark.parametrize(
    ("options", "given"), [((), ["-T", "-n"]), (("-i",), ["-T"]), (("-it",), ["-t"])]
)
def test_on_a_host_a_command_runs_through_ssh(
    fake: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    given: list[str],
) -> None:
    programs: list[list[str]] = []
    monkeypatch.setattr(os, "execvp", lambda _name, words: programs.append(words))
    fake.pods[None, None] = REMOTE
    assert invoke("exec", "a", *options, "--", "echo", "a b").exit_code == 0
    command = "python3 -c 'x' id0000 7 echo 'a b'"
    assert programs == [["ssh", *given, "-p", "2222", "me@a1", command]]


def test_ports_of_a_host_are_forwarded_by_ssh(fake: FakeServer) -> None:
    fake.pods[None, None] = REMOTE
    result = invoke("port-forward", "a", "80")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "error: a runs on host a1",
        "hint: forward the port with ssh: ssh -p 2222 me@a1 -N -L PORT:localhost:PORT",
    ]


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[bytes, bytes]]]:
    """The commands that this process would have become."""
    commands: list[tuple[list[str], dict[bytes, bytes]]] = []
    monkeypatch.setattr(
        os, "execvpe", lambda _name, words, environ: commands.append((words, environ))
    )
    return commands


@pytest.fixture
def process(tmp_path: Path) -> Iterator[int]:
    """A process of the job on this machine."""
    environ = {"TRAINWAY_JOB_ID": "id0000", "PATH": os.environ["PATH"], "MARK": "1=2"}
    with subprocess.Popen(["sleep", "600"], cwd=tmp_path, env=environ) as started:
        # The environment is the new program's only once the kernel has loaded it.
        environment = Path(f"/proc/{started.pid}/environ")
        while b"MARK=1=2" not in environment.read_bytes():
            time.sleep(0.01)
        yield started.pid
        started.kill()


def test_on_this_machine_a_command_runs_beside_the_process(
    fake: FakeServer,
    joined: list[tuple[list[str], dict[bytes, bytes]]],
    process: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir("/")
    fake.pods[None, None] = PLACE | {"processes": {"main": process}}
    assert invoke("exec", "a", "--", "env", "-0").exit_code == 0
    ((words, environ),) = joined
    assert words == ["env", "-0"]
    assert environ[b"MARK"] == b"1=2"
    assert Path.cwd() == tmp_path


def test_a_process_of_another_machine(
    fake: FakeServer, joined: list[tuple[list[str], dict[bytes, bytes]]]
) -> None:
    fake.pods[None, None] = PLACE | {"processes": {"main": os.getpid()}}
    result = invoke("shell", "a")
    assert (result.exit_code, joined) == (1, [])
    assert "on another machine" in result.stderr


def test_ports_of_this_machine_are_open_already(
    fake: FakeServer, executed: list[list[str]]
) -> None:
    fake.pods[None, None] = PLACE | {"processes": {"main": os.getpid()}}
    result = invoke("port-forward", "a", "80")
    assert (result.exit_code, executed) == (1, [])
    assert "hint: connect to localhost" in result.stderr
