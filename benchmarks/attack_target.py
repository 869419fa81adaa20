"""The server that is attacked: one of its own, on a loopback port, and ways to send it anything."""

import contextlib
import http.client
import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.workbench import scratch_home, trainway
from trainway.json_types import Json

BASE = "/api/v1"
HOST = "127.0.0.1"
_LIMIT_S = 120.0
_MEGABYTE = 1e6


@dataclass(frozen=True)
class Target:
    """A server that runs."""

    home: Path
    port: int
    pid: int

    @property
    def token(self) -> str:
        """What the owner has and an attacker has not."""
        return (self.home / "token").read_text().strip()

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | str | None = None,
        *,
        with_token: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """The answer to a request over TCP."""
        shown = {"Authorization": f"Bearer {self.token}"} if with_token else {}
        sent = {"Content-Type": "application/json", **shown, **(headers or {})}
        connection = http.client.HTTPConnection(HOST, self.port, timeout=_LIMIT_S)
        try:
            connection.request(method, BASE + path, body, sent)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def connect(self) -> socket.socket:
        """A connection that says nothing."""
        return socket.create_connection((HOST, self.port), timeout=_LIMIT_S)

    def jobs(self) -> list[Json]:
        """All jobs, as the owner sees them."""
        found: list[Json] = json.loads(trainway("jobs", "list", "--all", "-o", "json"))["items"]
        return found

    def routes(self) -> list[tuple[str, str]]:
        """Every method and path of the API."""
        _, body = self.ask("GET", "/openapi.json", with_token=True)
        paths = json.loads(body)["paths"]
        return [
            (method.upper(), path.removeprefix(BASE)) for path in paths for method in paths[path]
        ]

    def memory(self) -> float:
        """What the server holds now, in megabytes."""
        return memory_of(self.pid)

    def processes(self) -> int:
        """How many processes there are on this machine."""
        return sum(entry.name.isdigit() for entry in Path("/proc").iterdir())


def memory_of(pid: int) -> float:
    """What a process holds now, in megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE


@contextlib.contextmanager
def target() -> Iterator[Target]:
    """A server in a home of its own, gone at the end."""
    with scratch_home() as home:
        trainway("server", "start", "--listen", f"{HOST}:0")
        info = json.loads((home / "server.json").read_text())
        yield Target(home, int(info["listen"].rpartition(":")[2]), int(info["pid"]))


@contextlib.contextmanager
def opened(connections: Sequence[socket.socket]) -> Iterator[None]:
    """Hold connections open for a while."""
    try:
        yield
    finally:
        for connection in connections:
            connection.close()
