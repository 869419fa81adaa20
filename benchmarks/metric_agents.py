"""Agents of jobs that report once a second, as the server sees them: journals over a socket."""

import contextlib
import json
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

NAME: Final = "agents.sock"
"""Of the socket that all agents share."""


class Agents(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """All of them."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, path: Path, count: int, status: Callable[[int], Any]) -> None:
        super().__init__(str(path), _Agent)
        self.status = status
        self.all_watched = threading.Barrier(count + 1)
        self.over = threading.Event()
        self.sent = 0


class _Agent(socketserver.StreamRequestHandler):
    """One agent, while the server watches its job."""

    server: Agents

    def handle(self) -> None:
        asked = json.loads(self.rfile.readline())
        if asked["from"] > 0:
            return
        started = {"name": "node", "state": "running", "startedAt": "2026-11-15T05:00:00Z"}
        pod = {"pod": "node-0-0", "phase": "Running", "ready": True, "containers": [started]}
        self._write({"seq": 0, "type": "pod", **pod})
        self.server.all_watched.wait()
        time.sleep(hash(asked["id"]) % 997 / 997)
        began, step = time.monotonic(), 0
        while not self.server.over.wait(max(0.0, began + step - time.monotonic())):
            self._write(
                {"seq": step + 1, "type": "progress", "trainerStatus": self.server.status(step)}
            )
            self.server.sent += 1
            step += 1

    def _write(self, record: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self.wfile.write(json.dumps(record).encode() + b"\n")


@contextlib.contextmanager
def reporting_agents(folder: Path, count: int, status: Callable[[int], Any]) -> Iterator[Agents]:
    """Agents of so many jobs, for a while."""
    path = folder / NAME
    with Agents(path, count, status) as agents:
        threading.Thread(target=agents.serve_forever, daemon=True).start()
        try:
            yield agents
        finally:
            agents.over.set()
            agents.shutdown()
            path.unlink()
