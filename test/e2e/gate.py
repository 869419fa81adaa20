"""A place where the processes of a job report and wait, so that a test knows without polling.

Each process runs `visitor.py`: it connects, says who it is, and ends when it is told to. A test
accepts visitors, kills them, or lets them go; nothing depends on how fast the machine is.
"""

import contextlib
import json
import select
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

TIMEOUT_S: Final = 300.0

VISITOR: Final = Path(__file__).with_name("visitor.py")
CHATTER: Final = Path(__file__).with_name("chatter.py")
"""Another visitor, which writes numbered lines while it waits."""


@dataclass(frozen=True)
class Visitor:
    """A process of a job that waits at the gate."""

    pid: int
    name: str
    env: dict[str, str]
    connection: socket.socket

    @property
    def rank(self) -> int:
        return int(self.env["JOB_COMPLETION_INDEX"])

    def let_go(self, code: int = 0) -> None:
        """Let it end with the exit code."""
        self.connection.sendall(f"{code}\n".encode())


class Gate:
    """Where the processes report."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(512)
        self._listener.settimeout(TIMEOUT_S)
        self._visitors: list[Visitor] = []

    @property
    def path(self) -> str:
        """Where it listens."""
        return str(self._path)

    def command(self, name: str = "", *words: str, program: Path = VISITOR) -> list[str]:
        """What a container runs to report here."""
        return [sys.executable, str(program), str(self._path), name, *words]

    def next(self) -> Visitor:
        """Wait for the next process."""
        connection, _ = self._listener.accept()
        connection.settimeout(TIMEOUT_S)
        said: dict[str, Any] = json.loads(connection.makefile().readline())
        visitor = Visitor(said["pid"], said["name"], said["env"], connection)
        self._visitors.append(visitor)
        return visitor

    def nobody_waits(self) -> bool:
        """Whether no process came that was not taken in by `next`."""
        return not select.select([self._listener], [], [], 0)[0]

    def close(self) -> None:
        for visitor in self._visitors:
            visitor.connection.close()
        self._listener.close()


@contextlib.contextmanager
def opened() -> Iterator[Gate]:
    """A gate in a folder with a short name, as unix sockets need."""
    folder = tempfile.mkdtemp(prefix="gate")
    gate = Gate(Path(folder) / "s")
    try:
        yield gate
    finally:
        gate.close()
        shutil.rmtree(folder)
