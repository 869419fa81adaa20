"""The server as a process: its lock, its sockets, and what it writes down about itself.

Standard library only, and cheap to import: the sockets are open before anything slow is loaded, so
that a client that started the server can connect at once and is answered as soon as it can be.
"""

import contextlib
import fcntl
import json
import os
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from trainway import __version__
from trainway.errors import TrainwayError
from trainway.server.home_directory import prepare_home

BACKLOG: Final = 1024
_LONGEST_SOCKET_PATH: Final = 100
_STEP_S: Final = 0.02


class AlreadyRunningError(Exception):
    """Another server serves this home directory."""


class ListenError(TrainwayError):
    """An address cannot be used."""

    code = "listen"


@dataclass(frozen=True)
class Listen:
    """A TCP address to serve, beside the unix socket."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Listen":
        """Read HOST:PORT; ValueError if it is none."""
        host, colon, port = text.rpartition(":")
        if not colon or not host or not port.isdigit() or int(port) > 65_535:
            raise ValueError(f"not HOST:PORT: {text!r}")
        return cls(host.strip("[]"), int(port))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class ServerHome:
    """The home directory, held by this process."""

    DATABASE: Final = "trainway.db"

    def __init__(
        self,
        path: Path,
        patience_s: float = 15.0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        prepare_home(path)
        self.path = path
        self.socket_path = path / "server.sock"
        self._lock = os.open(path / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._take_lock(patience_s, pause)
        self.socket_path = self._short_path(self.socket_path)

    def _take_lock(self, patience_s: float, pause: Callable[[float], None]) -> None:
        """Wait for a server that is about to end, but not for one that serves."""
        deadline = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self._is_served() or time.monotonic() >= deadline:
                    os.close(self._lock)
                    raise AlreadyRunningError(str(self.path)) from None
                pause(_STEP_S)
            else:
                return

    def _is_served(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                info = json.loads((self.path / "server.json").read_bytes())
                probe.connect(info["socket"])
            except (OSError, ValueError):
                return False
        return True

    @property
    def database(self) -> str:
        """The URL of the database."""
        return f"sqlite:///{self.path / self.DATABASE}"

    def listen(self) -> socket.socket:
        """The unix socket, for the owner alone."""
        self.socket_path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)  # so that nobody else connects before it is too late
        try:
            listener.bind(str(self.socket_path))
        finally:
            os.umask(mask)
        listener.listen(BACKLOG)
        return listener

    def announce(self, tcp: socket.socket | None = None) -> str:
        """Write `server.json`; the time in it."""
        started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        info = {
            "pid": os.getpid(),
            "socket": str(self.socket_path),
            "version": __version__,
            "started": started,
        }
        if tcp is not None:
            info["listen"] = str(Listen(*tcp.getsockname()[:2]))
        draft = self.path / ".server.json.new"
        draft.write_text(json.dumps(info))
        draft.replace(self.path / "server.json")
        return started

    def withdraw(self) -> None:
        """Let clients see that nobody serves any more. The lock goes with the process."""
        (self.path / "server.json").unlink(missing_ok=True)
        self.socket_path.unlink(missing_ok=True)
        if self.socket_path.parent != self.path:
            with contextlib.suppress(FileNotFoundError):
                self.socket_path.parent.rmdir()

    def _short_path(self, path: Path) -> Path:
        """The path of the socket, elsewhere if it is too long for the name of one."""
        if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
            return path
        return Path(tempfile.mkdtemp(prefix="trainway-")) / path.name


def tcp_socket(listen: Listen) -> socket.socket:
    """A listening TCP socket."""
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named: with it the body of an
    # answer waits for the client to acknowledge the head, 40 ms later.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((listen.host, listen.port))
    except OSError as error:
        listener.close()
        raise ListenError(f"cannot listen on {listen}: {error.strerror}") from None
    listener.listen(BACKLOG)
    return listener
