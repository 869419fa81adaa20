"""A real server for tests, and a small client for it."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from trainway.json_types import Json

LIMIT_S = 120.0
TERMINAL = ("Succeeded", "Failed", "Cancelled")


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    body: Any


@dataclass(frozen=True)
class StreamEvent:
    """One server-sent event."""

    event: str
    data: Any
    id: str


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=LIMIT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(LIMIT_S)
        try:
            self.sock.connect(self._path)
        except OSError:
            self.close()
            raise


class RunningServer:
    """A server process of a home directory, and requests to it."""

    def __init__(self, home: Path, *options: str, env: Mapping[str, str] | None = None) -> None:
        self.home = home
        self._options = options
        self._env = {**os.environ, **(env or {})}
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process is None or self.process.poll() is not None:
            self.start()
        for job in self.jobs():
            self.request("DELETE", f"/jobs/{job['metadata']['id']}")
        self.stop()

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [sys.executable, "-m", "trainway.server", "--home", str(self.home)]
        self.process = subprocess.Popen([*command, *self._options], env=self._env)  # noqa: S603 - our own module
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            try:
                assert self.request("GET", "/health").status == 200
            except OSError:
                assert self.process.poll() is None, "the server ended"
                time.sleep(0.01)
            else:
                return
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        """Kill it as the kernel would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(LIMIT_S)

    def stop(self) -> int:
        """Ask it to end; its exit status."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(LIMIT_S)

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request and read the whole answer."""
        with self._open(method, path, body, headers) as response:
            data = response.read()
            return Answer(response.status, json.loads(data) if data else None)

    def download(self, path: str) -> bytes:
        """The bytes of an answer that is saved as a file."""
        with self._open("GET", path, None) as response:
            assert response.status == 200, response.read()
            assert str(response.getheader("Content-Disposition")).startswith("attachment; ")
            return response.read()

    def error(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Json]:
        """Send a request that is refused; the status, and the error."""
        answer = self.request(method, path, body, headers)
        error: Json = answer.body["error"]
        assert set(error) == {"code", "message", "field", "hint"}
        return answer.status, error

    def stream(self, path: str, last_id: str = "") -> Iterator[StreamEvent]:
        """The events of a stream, until it ends."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_id} if last_id else {})
        with self._open("GET", path, None, headers) as response:
            assert response.status == 200, response.read()
            fields: dict[str, str] = {}
            for raw in response:
                line = raw.decode().rstrip("\n")
                if line and not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif not line and fields:
                    yield StreamEvent(
                        fields.get("event", ""), json.loads(fields["data"]), fields.get("id", "")
                    )
                    fields = {}

    def submit(self, *objects: Json, **options: Any) -> Json:
        """Submit a job that is accepted."""
        answer = self.request("POST", "/jobs", {"objects": objects, "options": options})
        assert answer.status == 201, answer.body
        job: Json = answer.body["job"]
        return job

    def get(self, ref: str) -> Json:
        """A job that is there."""
        answer = self.request("GET", f"/jobs/{ref}")
        assert answer.status == 200, answer.body
        job: Json = answer.body
        return job

    def jobs(self) -> list[Json]:
        """All jobs, newest first."""
        items: list[Json] = self.request("GET", "/jobs?limit=1000&fields=summary").body["items"]
        return items

    def wait(self, ref: str, until: Callable[[Json], bool] | str = "") -> Json:
        """Watch a job until something holds; a text is a phase, none means its end."""

        def holds(job: Json) -> bool:
            if callable(until):
                return until(job)
            phase = job["status"]["phase"]
            return phase == until if until else phase in TERMINAL

        for event in self.stream(f"/jobs/{ref}/watch"):
            if holds(event.data):
                job: Json = event.data
                return job
        raise AssertionError(f"the job ended before: {self.get(ref)['status']}")

    def lines(self, ref: str, query: str = "") -> list[str]:
        """The text of a job's log lines."""
        events = self.stream(f"/jobs/{ref}/logs{query}")
        return [event.data["text"] for event in events if event.event == "log"]

    def _open(
        self, method: str, path: str, body: object, headers: Mapping[str, str] | None = None
    ) -> http.client.HTTPResponse:
        connection = _Connection(str(self._socket()))
        content = None if body is None else json.dumps(body)
        sent = {"Connection": "close", "Content-Type": "application/json", **(headers or {})}
        connection.request(method, f"/api/v1{path}", content, sent)
        return connection.getresponse()

    def _socket(self) -> str:
        try:
            return str(json.loads((self.home / "server.json").read_text())["socket"])
        except FileNotFoundError:
            return str(self.home / "server.sock")


Starts = Callable[[RunningServer], RunningServer]
"""Starts a server that ends with the test."""
