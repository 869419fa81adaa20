"""What runs on a host, seen from outside: whatever the host itself believes."""

import contextlib
import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TIMEOUT_S: Final = 120.0
STARTED: Final = 17
"""Which field of /proc/PID/stat, counted from the third after the name."""


@dataclass(frozen=True)
class HostProcess:
    """A process of a host, by the number that it has on this machine."""

    pid: int
    parent: int
    started: int
    """In ticks since the boot: tells it apart from another one that got its number."""
    words: tuple[str, ...]
    variables: dict[str, str]

    @property
    def job(self) -> str:
        """The id of the job that it belongs to, or nothing."""
        return self.variables.get("TRAINWAY_JOB_ID", "")

    @property
    def is_alive(self) -> bool:
        """Whether it still does something; a zombie does not."""
        now = described(self.pid)
        return now is not None and now.started == self.started

    def kill(self) -> None:
        """End it at once, and wait until it has ended."""
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(self.pid)
            try:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                ended, _, _ = select.select([handle], [], [], TIMEOUT_S)
                assert ended, f"{self.pid} is still there"
            finally:
                os.close(handle)


def processes_beside(init: int) -> list[HostProcess]:
    """The processes of the PID namespace of a process, itself and zombies left out."""
    namespace = namespace_of(init)
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    beside = [pid for pid in pids if pid != init and namespace and namespace_of(pid) == namespace]
    found = [described(pid) for pid in sorted(beside)]
    return [process for process in found if process is not None]


def namespace_of(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def described(pid: int) -> HostProcess | None:
    folder = Path(f"/proc/{pid}")
    try:
        state, parent, *rest = (folder / "stat").read_text().rpartition(")")[2].split()
        words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
        lines = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    if state == "Z" or not words:
        return None
    variables = dict(line.partition("=")[::2] for line in lines if line)
    return HostProcess(pid, int(parent), int(rest[STARTED]), tuple(words), variables)
