"""A Trainway of a test's own: the real command line in a home directory that nobody else uses."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from environments import REPOSITORY

from trainway.errors import UnavailableError
from trainway.sdk.address import Home, parse_address
from trainway.sdk.rest import Rest
from trainway.sdk.server_process import ServerProcess
from trainway.sdk.transport import Transport

TRAINWAY: Final = Path(sys.executable).with_name("trainway")
TIMEOUT_S: Final = 600.0
"""For one command: far beyond what it takes, since other work may share the machine."""
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Installation:
    """Runs commands as a user does in a shell at the root of the repository."""

    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if "TRAINWAY" not in name}
        return kept | {"TRAINWAY_HOME": str(self.home)} | dict(self.variables)

    def follow_logs(self, job: str, *words: str) -> subprocess.Popen[str]:
        """Follow a job's log; why it still waits goes to stderr, which nobody reads."""
        return self.start("jobs", "logs", "-f", job, *words, stderr=subprocess.DEVNULL)

    def start(self, *words: str, stderr: int = subprocess.STDOUT) -> subprocess.Popen[str]:
        """Start a command and leave it running."""
        return subprocess.Popen(
            [str(TRAINWAY), *words],
            cwd=REPOSITORY,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            errors="backslashreplace",
        )

    def run(self, *words: str, code: int = 0, timeout_s: float = TIMEOUT_S, text: str = "") -> str:
        """Run a command to its end, which must have the exit code; returns what it printed."""
        done = subprocess.run(
            [str(TRAINWAY), *words],
            cwd=REPOSITORY,
            env=self.environ(),
            input=text,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=timeout_s,
            check=False,
        )
        said = f"{' '.join(words)}: {done.returncode}\n{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
        assert done.returncode == code, said
        return done.stdout

    def json(self, *words: str) -> Any:
        """Run a command that prints JSON."""
        return json.loads(self.run(*words, "-o", "json"))

    def submit(self, *words: str) -> str:
        """Start a job and leave it to itself; returns its id."""
        lines = self.run("run", "--detach", *words).split()
        return lines[-1]

    def job(self, ref: str) -> dict[str, Any]:
        shown: dict[str, Any] = self.json("jobs", "show", ref)
        return shown

    def look(self, ref: str) -> dict[str, Any]:
        """A job as `jobs show` has it, for whoever waits and looks many times a second."""
        return self.ask(lambda server: server.get(ref))

    def phase(self, ref: str) -> str:
        return str(self.look(ref)["status"]["phase"])

    def server_pid(self) -> int:
        """The process of the server, started if there was none."""
        return int(self.ask(Rest.server)["pid"])

    def get(self, path: str) -> Any:
        """Ask the server for what no command prints: what pages of the dashboard show."""
        return self._transport().request("GET", path)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The same with a question that has a body."""
        return self._transport().request("POST", path, body=body)

    def _transport(self) -> Transport:
        self.server_pid()  # starts one if there is none
        home = Home(self.home)
        return Transport(parse_address(str(home.address(home.server_info()))))

    def end(self) -> None:
        """Leave nothing running."""
        jobs, _ = self.ask(lambda server: server.page(active=True, limit=1000, summary=True))
        if jobs:
            self.run("jobs", "delete", *(job["metadata"]["id"] for job in jobs))
        ServerProcess(Home(self.home)).stop()

    def ask(self, question: Callable[[Rest], Answer]) -> Answer:
        """Ask the server itself, since a process for each question takes the processor from others.

        Where no server answers, a command starts one.
        """
        home = Home(self.home)
        try:
            return question(Rest.connect(str(home.address(home.server_info()))))
        except UnavailableError:
            self.run("jobs", "list")
        return question(Rest.connect(str(home.address(home.server_info()))))


@contextlib.contextmanager
def installed(home: Path, variables: Mapping[str, str] | None = None) -> Iterator[Installation]:
    """An installation that is empty at first, and gone at the end."""
    installation = Installation(home, variables or {})
    try:
        yield installation
    finally:
        installation.end()


def processes_of(job_id: str) -> list[int]:
    """What runs of a job: each of its processes has its id in the environment."""
    mark = f"TRAINWAY_JOB_ID={job_id}".encode()
    return [pid for pid in all_pids() if is_alive(pid) and mark in variables_of(pid).split(b"\0")]


def all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def variables_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def is_alive(pid: int) -> bool:
    """Whether a process still does something; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def kill(pid: int) -> None:
    """End a process at once, and wait until it has ended."""
    handle = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        ended, _, _ = select.select([handle], [], [], TIMEOUT_S)
        assert ended, f"{pid} is still there"
    finally:
        os.close(handle)
