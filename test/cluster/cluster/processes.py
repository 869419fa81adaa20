"""The processes of a cluster: started with a log of their own, ended for certain.

A test run that is killed must leave nothing behind, so a process dies with the one that started it,
unless the cluster is to stay. Each is recorded with its start time: whoever clears up later kills
that process and never another one that got its number.
"""

import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cluster.unavailable import UnavailableError

log = logging.getLogger(__name__)

DIES_WITH_PARENT: Final = ("setpriv", "--pdeathsig", "KILL", "--")
POLL_SECONDS: Final = 0.05
LONGEST_SECONDS: Final = 1.0
REST: Final = 3
"""A look that starts a process takes the processor from what is waited for: so much is left."""
START_SECONDS: Final = 120.0
"""What takes no more than three seconds here, on a machine that has much else to do."""
STATE_FIELD: Final = 0  # of what follows the command in /proc/PID/stat
START_FIELD: Final = 19


@dataclass(frozen=True)
class Identity:
    """A process for as long as the machine runs: its number and when it started."""

    pid: int
    started: str

    def is_alive(self) -> bool:
        """Whether this very process runs; a zombie does not."""
        return process_start(self.pid) == self.started

    def signal(self, number: signal.Signals) -> None:
        """Send a signal unless the process is gone."""
        if self.is_alive():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return


def process_start(pid: int) -> str:
    """When the process started, in ticks since boot; empty if it is gone or a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[STATE_FIELD] == "Z" else fields[START_FIELD]


def kill_all(identities: Sequence[Identity]) -> None:
    """Kill the processes and wait for their end; nothing they keep is needed any more."""
    for identity in identities:
        identity.signal(signal.SIGKILL)
    wait_until(lambda: not any(each.is_alive() for each in identities), 10)


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition came true in time."""
    began = time.monotonic()
    deadline = began + seconds
    while not condition():
        looked = time.monotonic()
        if looked > deadline:
            return False
        time.sleep(min(max(POLL_SECONDS, REST * (looked - began)), LONGEST_SECONDS))
        began = time.monotonic()
    return True


@dataclass
class Process:
    """One running program of the cluster."""

    name: str
    command: Sequence[str]
    log_file: Path
    stays: bool = False  # outlives the process that starts it
    variables: Mapping[str, str] = field(default_factory=dict)
    popen: subprocess.Popen[bytes] | None = None
    identity: Identity | None = None

    def start(self) -> None:
        """Start it; its output goes to the end of its log."""
        with self.log_file.open("ab") as output:
            self.popen = subprocess.Popen(
                [*(() if self.stays else DIES_WITH_PARENT), *self.command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.variables},
                start_new_session=True,
            )
        self.identity = Identity(self.popen.pid, process_start(self.popen.pid))

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self.popen is not None and self.popen.poll() is None

    def wait_ready(self, ready: Callable[[], bool], seconds: float = START_SECONDS) -> None:
        """Wait until it serves; its end or the time limit is an error with the end of its log."""
        in_time = wait_until(lambda: not self.is_alive() or ready(), seconds)
        if not in_time or not self.is_alive():
            state = "is not ready" if self.is_alive() else "ended"
            raise UnavailableError(f"{self.name} {state}: {self.last_lines()}")

    def last_lines(self) -> str:
        """The end of its log."""
        return self.log_file.read_text(errors="replace")[-1500:]

    def stop(self, number: signal.Signals = signal.SIGTERM, patience_seconds: float = 10) -> None:
        """End it and wait for its end."""
        if self.popen is None:
            return
        if self.popen.poll() is None:
            self.popen.send_signal(number)
            try:
                self.popen.wait(patience_seconds)
            except subprocess.TimeoutExpired:
                log.warning("%s does not end, it is killed", self.name)
                self.popen.kill()
        self.popen.wait()
