"""A real S3 of a test's own: versitygw over a folder, and a way to it that counts and cuts.

The program is built with Go into the user's cache, once for each machine; where that is not
possible the tests that need it are skipped, and fail in CI.
"""

import contextlib
import os
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import pytest
from cluster.ports import free_port
from program_cache import go_program

VERSION: Final = "v1.8.0"
ACCESS, SECRET = "trainway-test", "hush-hush-hush"
LIMIT_S: Final = 60.0
SENT: Final = re.compile(rb"PUT [^ ]*[?&]partNumber=(\d+)")
BLOCK: Final = re.compile(rb"PUT [^ ]*[?&]blockid=([^& ]+)")
RANGE: Final = re.compile(rb"\nrange: bytes=(\d+)-", re.IGNORECASE)
PIECE: Final = 1 << 16


@dataclass(frozen=True)
class S3Server:
    """The server, while it runs; each folder of its folder is a bucket."""

    port: int
    folder: Path
    host: str = "127.0.0.1"

    def bucket(self, name: str) -> Path:
        """An empty bucket; files that are put into the folder are objects of it."""
        path = self.folder / name
        path.mkdir()
        return path

    @property
    def endpoint(self) -> str:
        """Where it answers."""
        return f"http://{self.host}:{self.port}"

    def variables(self, port: int | None = None) -> dict[str, str]:
        """What a user sets to reach it, or what passes it on at another port."""
        return {
            "AWS_ENDPOINT_URL": f"http://{self.host}:{port or self.port}",
            "AWS_ACCESS_KEY_ID": ACCESS,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }


def versitygw() -> Path:
    """The program, built on first use."""
    return go_program("versitygw", "github.com/versity/versitygw/cmd/versitygw", VERSION)


@pytest.fixture(scope="module")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A server for the tests of a module, each with buckets of its own."""
    with running(tmp_path_factory.mktemp("s3")) as server:
        yield server


@contextlib.contextmanager
def running(folder: Path, host: str = "127.0.0.1") -> Iterator[S3Server]:
    """Let versitygw serve a folder."""
    (folder / "buckets").mkdir()
    server = S3Server(free_port(), folder / "buckets", host)
    command = [str(versitygw()), "--port", f"{host}:{server.port}", "--quiet", "posix"]
    keys = {"ROOT_ACCESS_KEY": ACCESS, "ROOT_SECRET_KEY": SECRET}
    with (folder / "versitygw.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, str(server.folder)], env={**os.environ, **keys}, stdout=log, stderr=log
        )
    try:
        _wait(server, process, folder / "versitygw.log")
        yield server
    finally:
        process.terminate()
        process.wait(LIMIT_S)


def _wait(server: S3Server, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + LIMIT_S
    while True:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        try:
            urllib.request.urlopen(f"http://{server.host}:{server.port}/", timeout=LIMIT_S).close()
        except urllib.error.HTTPError:
            return  # it answers, and refuses
        except OSError:
            time.sleep(0.05)
        else:
            return


class CountingProxy:
    """Passes connections on to a server; knows what was asked for and how much was given.

    `on_bytes` is told the number of bytes given so far, before they are passed on, and `on_taken`
    that of the bytes that came; `sent` are the numbers of the parts of uploads, and `blocks` the
    names that Azure has for them. `ways` are the connections of clients that may still send.
    """

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.starts: list[int] = []
        self.sent: list[int] = []
        self.blocks: list[str] = []
        self.taken = 0
        self.given = 0
        self.ways = 0
        self.on_bytes: Callable[[int], None] = lambda _given: None
        self.on_taken: Callable[[int], None] = lambda _taken: None
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def opened(self) -> Iterator["CountingProxy"]:
        """Accept connections, for a while."""
        thread = threading.Thread(target=self._accept, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            with self._lock:
                self.ways += 1
            for pair in ((client, server, self._asked), (server, client, self._given)):
                threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(
        self, source: socket.socket, target: socket.socket, seen: Callable[[bytes], None]
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(PIECE):
                seen(piece)
                target.sendall(piece)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        if seen == self._asked:
            with self._lock:
                self.ways -= 1

    def _asked(self, piece: bytes) -> None:
        with self._lock:
            self.starts += map(int, RANGE.findall(piece))
            self.sent += map(int, SENT.findall(piece))
            self.blocks += (unquote(name.decode()) for name in BLOCK.findall(piece))
            self.taken += len(piece)
            taken = self.taken
        self.on_taken(taken)

    def _given(self, piece: bytes) -> None:
        with self._lock:
            self.given += len(piece)
            given = self.given
        self.on_bytes(given)
