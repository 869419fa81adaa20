"""A host agent to try things on: its daemon, reached through `connect` with pipes."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from trainway.agent.base.launch import host_command
from trainway.agent.kubelet import process_tree
from trainway.agent.kubelet.process_tree import marked
from trainway.json_types import Json

PATIENCE = 60.0
HERE = "127.0.0.1"


def uid() -> str:
    """A fresh uid of a pod."""
    return os.urandom(8).hex()


class Client:
    """One `connect`: what a pool agent has of a host."""

    def __init__(self, home: Path, *, owner: str = "owner", argv: list[str] | None = None) -> None:
        self.owner = owner
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            argv or host_command(str(home), "--idle", "30"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.frames: list[Json] = []
        self._buffer = b""

    def send(self, op: str, **fields: Any) -> None:
        """Ask for something."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"op": op, **fields}).encode() + b"\n")
        self.process.stdin.flush()

    def hello(self, **fields: Any) -> Json:
        """Say who this is; the facts."""
        self.send("hello", owner=self.owner, **{"peers": [], "votes": 2, **fields})
        return self.event("facts")

    def until(self, wanted: Callable[[Json], object], patience: float = PATIENCE) -> Json:
        """The next frame that is wanted; those before it are kept in `frames`."""
        give_up = time.monotonic() + patience
        while True:
            frame = self._next(give_up)
            assert frame is not None, f"not seen; the last: {self.frames[-8:]}"
            self.frames.append(frame)
            if wanted(frame):
                return frame

    def event(self, name: str, **fields: Any) -> Json:
        """The next event of that name, with these fields."""
        items = {"event": name, **fields}.items()
        return self.until(lambda frame: items <= frame.items())

    def pod(self, phase: str, **fields: Any) -> Json:
        """The record of a pod in that phase, seen already or still to come."""
        items = {"event": "record", "type": "pod", "phase": phase, **fields}.items()
        for frame in self.frames:
            if items <= frame.items():
                return frame
        return self.until(lambda frame: items <= frame.items())

    def _next(self, give_up: float) -> Json | None:
        assert self.process.stdout is not None
        while b"\n" not in self._buffer:
            left = give_up - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        frame: Json = json.loads(line)
        return frame

    def log(self, file: str, job: str = "") -> bytes:
        """What came of a log file, put together; fails where bytes are missing or doubled."""
        text = b""
        for frame in self.frames:
            wanted = frame["event"] == "log" and frame["file"] == file
            if wanted and job in ("", frame["id"]):
                assert frame["offset"] == len(text), "a gap, or bytes for the second time"
                text += base64.b64decode(frame["data"])
        return text

    def output(self, path: str) -> bytes | None:
        """What came of an output file, as a receiver keeps it."""
        whole, part = None, b""
        for frame in self.frames:
            if frame["event"] == "output" and frame["path"] == path:
                part = part if frame["offset"] else b""
                assert frame["offset"] == len(part)
                part += base64.b64decode(frame["data"])
                whole = part if frame["last"] else whole
        return whole

    def close(self) -> None:
        """Hang up."""
        for end in (self.process.stdin, self.process.stdout):
            assert end is not None
            with contextlib.suppress(BrokenPipeError):
                end.close()
        self.process.wait(PATIENCE)

    def kill(self) -> None:
        """Kill `connect`, as a network that breaks down would."""
        self.process.kill()
        self.close()


class TestHost:
    """A home directory with a host agent."""

    __test__ = False

    def __init__(self, home: Path) -> None:
        self.home = home
        self._clients: list[Client] = []

    def client(self, **options: Any) -> Client:
        """Connect."""
        client = Client(self.home, **options)
        self._clients.append(client)
        return client

    def connected(self, **hello: Any) -> Client:
        """Connect and say hello."""
        client = self.client()
        client.hello(**hello)
        return client

    @property
    def pid(self) -> int:
        """The daemon."""
        return int(json.loads((self.home / "daemon.json").read_text())["pid"])

    def log(self) -> str:
        """What the daemon printed."""
        path = self.home / "host.log"
        return path.read_text() if path.exists() else ""

    def end_daemon(self, number: int) -> None:
        """Send the daemon a signal, and wait until it is gone."""
        with self.going():
            os.kill(self.pid, number)

    @contextlib.contextmanager
    def going(self) -> Iterator[None]:
        """Wait, at the end, until the daemon is gone that ran at the beginning."""
        descriptor = os.pidfd_open(self.pid)
        try:
            yield
            gone, _, _ = select.select([descriptor], [], [], PATIENCE)
            assert gone, "the daemon still runs"
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """End everything."""
        for client in self._clients:
            client.kill()
        with contextlib.suppress(OSError, ValueError):
            self.end_daemon(signal.SIGKILL)
        for job in (self.home / "jobs").glob("*"):
            process_tree.signal_all(marked(job.name))


class HostJob:
    """A job to send to a host."""

    def __init__(self, spec: Json, **plan: Any) -> None:
        self.id = f"test-{os.urandom(6).hex()}"
        name = spec["metadata"]["name"]
        self.plan: Json = {"version": 1, "id": self.id, "name": name, "jobset": spec, **plan}

    def submit(self, client: Client, token: int = 1) -> Json:
        """Bring it to the host."""
        client.send("job", id=self.id, token=token, plan=self.plan)
        return client.event("job", id=self.id)

    def start(self, client: Client, pod: str = "node-0-0", token: int = 1, **fields: Any) -> str:
        """Start one of its pods; the uid."""
        role, job, slot = pod.rsplit("-", 2)
        fresh = uid()
        coordinates = {"role": role, "job_index": int(job), "slot": int(slot), "uid": fresh}
        numbers = {name: fields.pop(name, 0) for name in ("attempt", "job_attempt", "failures")}
        message: Json = {"addresses": {pod: HERE}, "devices": {}, "env": {}, **fields}
        client.send("start", id=self.id, token=token, pod={**coordinates, **numbers}, **message)
        return fresh

    def processes(self) -> list[int]:
        """All that runs of it."""
        return marked(self.id)


@contextlib.contextmanager
def host_agent() -> Iterator[TestHost]:
    """A host with nothing on it, cleaned up at the end."""
    with tempfile.TemporaryDirectory(prefix="host-") as folder:
        host = TestHost(Path(folder, "home"))
        try:
            yield host
        finally:
            host.close()
