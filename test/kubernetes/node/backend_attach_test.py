"""Commands in pods of a job, and ports of them, as a user has them on a terminal."""

import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fcntl import ioctl
from typing import Final

import pytest
from cluster.access import Access
from cluster.processes import wait_until
from installation import TRAINWAY, Installation
from shell_jobsets import ShellJobSet

PATIENCE_S: Final = 120.0
MEGABYTES_10: Final = 10 * 2**20
SCRIPT: Final = """
echo "I am $JOB_COMPLETION_INDEX" > /tmp/who
busybox nc -ll -p 7001 -e cat &
busybox nc -ll -p 7002 -e sh -c 'echo from 7002; sleep 600' &
echo ready
wait
"""


@pytest.fixture(scope="module")
def job(
    home: Installation, node_cluster: Access, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A job of two pods that run until the end of the tests."""
    node_cluster.create_namespace("attach")
    jobset = ShellJobSet("attached", SCRIPT, pods=2)
    job = jobset.submit(home, "attach", tmp_path_factory.mktemp("job"))

    def is_ready() -> bool:
        if home.look(job)["status"]["phase"] != "Running":
            return False
        return home.run("jobs", "logs", job, "--raw").split() == ["ready", "ready"]

    assert wait_until(is_ready, PATIENCE_S), home.run("jobs", "show", job)
    yield job
    home.run("jobs", "delete", job)
    node_cluster.delete_namespace("attach")


def test_a_command_has_its_output_and_its_exit_status(home: Installation, job: str) -> None:
    assert home.run("jobs", "exec", job, "--", "cat", "/tmp/who") == "I am 0\n"
    assert home.run("jobs", "exec", job, "--rank", "1", "--", "cat", "/tmp/who") == "I am 1\n"
    script = "echo out; echo err >&2; exit 37"
    done = subprocess.run(
        [str(TRAINWAY), "jobs", "exec", job, "--", "sh", "-c", script],
        env=home.environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (37, "out\n", "err\n")


def test_input_arrives_whole_and_ends(home: Installation, job: str) -> None:
    data = os.urandom(3_000_000)
    done = subprocess.run(
        [str(TRAINWAY), "jobs", "exec", "-i", job, "--", "cat"],
        env=home.environ(),
        input=data,
        capture_output=True,
        check=True,
    )
    assert done.stdout == data
    assert home.run("jobs", "shell", job, text="cat /tmp/who\n") == "I am 0\n"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["exec", "JOB", "--", "nothing-of-the-sort"], 1, "nothing-of-the-sort"),
        (["exec", "JOB", "--rank", "7", "--", "true"], 1, "has no pod of rank 7 now"),
        (["exec", "JOB", "-c", "side", "--", "true"], 2, "has no container side"),
        (["port-forward", "JOB", "x"], 2, "not a port: x"),
    ],
)
def test_mistakes_are_one_line(
    home: Installation, job: str, words: list[str], code: int, message: str
) -> None:
    done = subprocess.run(
        [str(TRAINWAY), "jobs", *(job if word == "JOB" else word for word in words)],
        env=home.environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    first, *rest = done.stderr.splitlines()
    assert done.returncode == code, done.stderr
    assert first.startswith("error: ")
    assert message in first
    assert all(line.startswith("hint: ") for line in rest)


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, home: Installation, *words: str) -> None:
        self._ours, theirs = pty.openpty()
        self.resize(100, 30)
        self.process = subprocess.Popen(
            ["setsid", "--ctty", str(TRAINWAY), *words],
            env=home.environ(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        self._seen = ""

    def resize(self, columns: int, lines: int) -> None:
        ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def read_until(self, text: str) -> None:
        while text not in self._seen:
            ready, _, _ = select.select([self._ours], [], [], PATIENCE_S)
            assert ready, f"{text!r} is not in {self._seen!r}"
            self._seen += os.read(self._ours, 65536).decode(errors="replace")
        self._seen = self._seen.partition(text)[2]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


@contextmanager
def terminal(home: Installation, *words: str) -> Iterator[Terminal]:
    opened = Terminal(home, *words)
    try:
        yield opened
    finally:
        opened.close()


def test_a_shell_in_a_terminal_that_changes_its_size(home: Installation, job: str) -> None:
    with terminal(home, "jobs", "shell", job, "--rank", "1") as shell:
        shell.read_until("# ")
        shell.type("stty size; echo si''zed\n")
        shell.read_until("30 100\r\nsized")
        shell.resize(132, 50)
        # The new size takes its own way: asked for until it is there.
        shell.type("until [ \"$(stty size)\" = '50 132' ]; do :; done; echo chan''ged\n")
        shell.read_until("changed")
        shell.type("sh -c 'echo run\"\"ning; sleep 600'\n")
        shell.read_until("running")
        shell.type("\x03")
        shell.type("cat /tmp/who; exit 5\n")
        shell.read_until("I am 1")
        assert shell.process.wait(PATIENCE_S) == 5


@contextmanager
def forwarded(
    home: Installation, job: str, *ports: int
) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    process = home.start("jobs", "port-forward", job, *(f":{port}" for port in ports))
    assert process.stdout is not None
    try:
        local = []
        for port in ports:
            line = process.stdout.readline()
            match = re.fullmatch(rf"127\.0\.0\.1:(\d+) -> attached-node-0-0-\w+:{port}\n", line)
            assert match, line
            local.append(int(match[1]))
        yield process, local
    finally:
        process.kill()
        process.communicate()


def echoed(port: int, data: bytes) -> bytes:
    """What comes back of what is sent to a port, while it is sent."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
        connection.settimeout(PATIENCE_S)
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(connection.sendall, data)
            received = bytearray()
            while len(received) < len(data):
                piece = connection.recv(65536)
                if not piece:
                    break
                received += piece
            sending.result()
        return bytes(received)


def test_ports_carry_much_both_ways_and_several_connections_at_once(
    home: Installation, job: str
) -> None:
    with forwarded(home, job, 7001, 7002) as (process, (echo, greeting)):
        data = os.urandom(MEGABYTES_10)
        assert echoed(echo, data) == data
        parts = [os.urandom(200_000) for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(lambda part: echoed(echo, part), parts)) == parts
        with socket.create_connection(("127.0.0.1", greeting), PATIENCE_S) as connection:
            connection.settimeout(PATIENCE_S)
            assert connection.makefile().readline() == "from 7002\n"
            # With a connection still open.
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_S) == 0
        assert process.stdout is not None
        assert process.stdout.read() == ""


def test_a_port_that_nobody_listens_on_is_said(home: Installation, job: str) -> None:
    with forwarded(home, job, 7003) as (process, (port,)):
        assert echoed(port, b"x") == b""
        assert process.stdout is not None
        assert process.stdout.readline().startswith("warning: port 7003: ")


def test_a_command_beside_a_process_of_this_machine(home: Installation) -> None:
    job = home.submit("--env", "MARK=here", "--", "sleep", "600")
    assert wait_until(lambda: home.look(job)["status"]["phase"] == "Running", PATIENCE_S)
    assert (
        home.run("jobs", "exec", job, "--", "sh", "-c", "echo $MARK $TRAINWAY_RANK") == "here 0\n"
    )
    home.run("jobs", "exec", job, "--", "sh", "-c", "exit 9", code=9)
    home.run("jobs", "delete", job)
