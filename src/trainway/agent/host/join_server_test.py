"""Joining without real pods: the client is a real process, the container is the test's."""

import json
import os
import socket
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.host import join_server
from trainway.agent.host.join_server import JoinServer, host_container, shell
from trainway.agent.kubelet.container import INIT, MAIN
from trainway.agent.kubelet.processes import Listener, Process

PATIENCE = 30.0
CLIENT = "import sys; from trainway.agent.host.join import main; sys.exit(main(sys.argv[1:]))"


class FakeProcesses:
    def __init__(self) -> None:
        self.calls: list[str] = []

    def terminate(self, _process: Process) -> None:
        self.calls.append("terminate")

    def kill(self, _process: Process) -> None:
        self.calls.append("kill")


class FakeContainer:
    """Runs one command at a time, as the test says."""

    def __init__(self, name: str = "main", kind: str = MAIN, **spec: Any) -> None:
        self.name, self.kind, self.spec = name, kind, spec
        self.running = True
        self.argv: list[str] = []
        self.stdout = -1
        self.process: Process | None = None

    def join(
        self, argv: list[str], listener: Listener, stdio: tuple[int, int, int]
    ) -> Process | None:
        if not self.running:
            return None
        self.argv, self.stdout = argv, os.dup(stdio[1])
        self.process = Process(1, "", listener)
        return self.process

    def close(self) -> None:
        if self.stdout >= 0:
            os.close(self.stdout)
        self.stdout = -1

    def end(self, code: int = 0, reason: bytes = b"") -> None:
        assert self.process is not None
        self.close()
        self.process.exited, self.process.exit_code = True, code
        self.process.reason += reason
        self.process.listener.on_exit(self.process)
        self.process.listener.on_gone(self.process)


class World:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.loop, self.processes = EventLoop(), FakeProcesses()
        self.container = FakeContainer()
        self.pods: dict[tuple[str, str], Any] = {}
        found = lambda job, pod: self.pods.get((job, pod))  # noqa: E731 - one line says it
        home = Directory(str(path))
        table: Any = self.processes  # a stand-in, of which the server uses one method
        self.server = JoinServer(home, self.loop, table, found)
        self.clients: list[subprocess.Popen[str]] = []

    def add_pod(self) -> None:
        self.pods["job-1", "worker-0-0"] = pod(self.container)

    def client(self, command: str = "trainway-pod=worker-0-0 work 'a  b'") -> Any:
        line = [sys.executable, "-c", CLIENT, str(self.path), "job-1"]
        env = {**os.environ, "SSH_ORIGINAL_COMMAND": command}
        pipe = subprocess.PIPE
        client = subprocess.Popen(line, env=env, stdout=pipe, stderr=pipe, text=True)
        self.clients.append(client)
        return client

    def until(self, condition: Callable[[], object]) -> None:
        give_up = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < give_up
            self.loop.call_later(0.01, lambda: None)
            self.loop.turn()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.server.close()
    made.container.close()
    for client in made.clients:
        client.kill()
        client.communicate()


def pod(*containers: Any, volumes: Any = (), keys: str = "") -> Any:
    role = SimpleNamespace(pod_spec={"volumes": list(volumes)})
    plan = SimpleNamespace(mpi={"secret": keys} if keys else {})
    identity = SimpleNamespace(role=role, plan=plan)
    return SimpleNamespace(identity=identity, containers=list(containers))


@pytest.mark.parametrize("code", [0, 3, 143])
def test_a_command_runs_with_the_client_s_files_and_ends_as_it_does(
    world: World, code: int
) -> None:
    world.add_pod()
    client = world.client()
    world.until(lambda: world.container.process)
    assert world.container.argv == ["/bin/sh", "-c", "work 'a  b'"]
    os.write(world.container.stdout, b"hello\n")
    world.container.end(code)
    assert client.communicate(timeout=PATIENCE) == ("hello\n", "")
    assert client.returncode == code


def test_a_command_waits_for_its_pod(world: World) -> None:
    world.container.running = False
    client = world.client()
    for change in (world.add_pod, lambda: setattr(world.container, "running", True)):
        world.until(lambda: world.server._guests)
        world.until(lambda: all(guest._request for guest in world.server._guests))
        world.server.look()
        assert world.container.process is None
        change()
    world.server.look()
    assert world.container.process is not None
    world.server.look()
    world.container.end()
    assert client.wait(PATIENCE) == 0


def test_a_pod_that_never_comes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join_server, "PATIENCE", 0.2)
    client = world.client()
    world.until(lambda: client.poll() is not None)
    assert client.returncode == 255
    assert client.stderr.read() == "trainway: pod worker-0-0 does not run on this host\n"


def test_a_command_that_cannot_start_says_why(world: World) -> None:
    world.add_pod()
    client = world.client()
    world.until(lambda: world.container.process)
    world.container.end(128, b'chdir to cwd ("/gone"): no such file or directory')
    assert client.wait(PATIENCE) == 255
    assert "/gone" in client.stderr.read()


def test_a_command_ends_with_its_client(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join_server, "GRACE", 0.05)
    world.add_pod()
    client = world.client()
    world.until(lambda: world.container.process)
    client.kill()
    world.until(lambda: world.processes.calls == ["terminate", "kill"])


def test_a_command_that_ends_in_time_is_not_killed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(join_server, "GRACE", 0.05)
    world.add_pod()
    client = world.client()
    world.until(lambda: world.container.process)
    client.kill()
    world.until(lambda: world.processes.calls)
    world.container.end()
    passed = time.monotonic() + 0.1
    world.until(lambda: time.monotonic() > passed)
    assert world.processes.calls == ["terminate"]


def test_a_client_goes_when_nobody_hears_it_any_more(world: World) -> None:
    """So it is when the SSH connection was closed: both of its outputs are."""
    world.add_pod()
    client = world.client()
    world.until(lambda: world.container.process)
    client.stdout.close()
    client.stderr.close()
    world.until(lambda: world.processes.calls == ["terminate"])
    assert client.wait(PATIENCE) == 255
    world.clients.clear()


@pytest.mark.parametrize("command", ["", "work", "trainway-pod=worker-0-0", "scp -t /x"])
def test_the_key_can_do_nothing_else(world: World, command: str) -> None:
    client = world.client(command)
    assert client.wait(PATIENCE) == 255
    assert client.stderr.read() == "trainway: this key is for the pods of job job-1 alone\n"


def test_no_agent_no_command(tmp_path: Path) -> None:
    env = {**os.environ, "SSH_ORIGINAL_COMMAND": "trainway-pod=worker-0-0 work"}
    line = [sys.executable, "-c", CLIENT, str(tmp_path), "job-1"]
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 255
    assert done.stderr.startswith("trainway: the agent of this host cannot be reached")


@pytest.mark.parametrize(
    ("request_", "files"),
    [
        (b"{}\n", 3),
        (b"[]\n", 3),
        (b"no json\n", 3),
        (b'{"job": "job-1", "pod": "worker-0-0", "command": "x"}\n', 2),
        (b'{"job": "job-1", "pod": "worker-0-0", "command": "x"}\n', 0),
    ],
)
def test_half_a_request_is_refused(world: World, request_: bytes, files: int) -> None:
    world.add_pod()
    read, write = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(world.path / "join.sock"))
        sent = array("i", [write] * files)
        client.sendmsg([request_], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, sent)] if files else [])
        os.close(write)
        client.settimeout(0.01)
        answers: list[bytes] = []
        world.until(lambda: _received(client, answers))
        assert "three files" in json.loads(answers[0])["error"]
    os.set_blocking(read, False)
    assert os.read(read, 1) == b"", "nobody holds the files any more"
    os.close(read)
    assert world.container.process is None


def _received(client: socket.socket, answers: list[bytes]) -> bool:
    try:
        answers.append(client.recv(4096))
    except TimeoutError:
        return False
    return True


SECRET = {"name": "keys", "secret": {"secretName": "allreduce-ssh"}}
MOUNT: dict[str, Any] = {"volumeMounts": [{"name": "keys", "mountPath": "/root/.ssh"}]}
FIRST = FakeContainer("first", INIT, **MOUNT)
SIDE, WORKER = FakeContainer("side"), FakeContainer("worker", **MOUNT)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (pod(FIRST, SIDE, WORKER, volumes=[SECRET], keys="allreduce-ssh"), WORKER),
        (pod(FIRST, SIDE, WORKER, volumes=[SECRET], keys="other"), SIDE),
        (pod(FIRST, SIDE, WORKER, volumes=[SECRET]), SIDE),
        (pod(FIRST), None),
    ],
    ids=["the keys", "other keys", "no keys", "none"],
)
def test_commands_join_the_container_with_the_job_s_keys(found: Any, expected: Any) -> None:
    assert host_container(found) is expected


@pytest.mark.parametrize(
    ("login", "expected"),
    [
        ("/bin/bash", "/bin/sh"),
        ("/usr/bin/zsh", "/bin/sh"),
        ("/usr/sbin/nologin", "/bin/sh"),
        ("", "/bin/sh"),
        ("/bin/tcsh", "/bin/tcsh"),
        ("/usr/bin/csh", "/usr/bin/csh"),
    ],
)
def test_the_shell(login: str, expected: str) -> None:
    assert shell(login) == expected
