"""The way in: relays standard input and output to the daemon, which it starts if none is there.

One version of the daemon serves a home at a time. A newer `connect` asks it to make way; where it
still has pods or another client, it is used as it is.
"""

from __future__ import annotations

import json
import os
import socket
import time

from trainway.agent.base.daemon import READY, detached, own_directory
from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.base.launch import digest
from trainway.agent.host import server
from trainway.agent.host.keys import host_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainway.json_types import Json


PATIENCE = 20.0
PAUSE = 0.02
CHUNK = 256 * 1024
STDIN, STDOUT = 0, 1
RETIRE_LIMIT = 4096


class ConnectError(Exception):
    """There is no daemon, and none can be started."""


def connect(path: str, idle: float, shared: str = "") -> None:
    """Be the client of a home's daemon until either side is done."""
    own_directory(path)
    home = Directory(path)
    client = _reach(home, digest(), idle, shared)
    client.sendall(json.dumps({"op": "arrived", **arrival(os.environ)}).encode() + b"\n")
    _relay(client)


def attach(path: str) -> None:
    """The same where somebody else starts the daemon, which may take a while."""
    give_up = time.monotonic() + PATIENCE
    client = None
    while client is None:
        if time.monotonic() > give_up:
            raise ConnectError(f"nothing listens on {path}")
        time.sleep(PAUSE)
        if os.path.isdir(path):
            home = Directory(path)
            client = _connected(home)
            home.close()
    _relay(client)


def arrival(environ: Mapping[str, str]) -> Json:
    """How the host was reached: the address of its SSH server, and the keys that it shows."""
    words = environ.get("SSH_CONNECTION", "").split()
    if len(words) != 4 or not words[3].isdigit():
        return {}
    address, port = words[2], int(words[3])
    return {"sshd": [address, port], "host_keys": host_keys(address, port)}


def _reach(home: Directory, version: str, idle: float, shared: str) -> socket.socket:
    give_up = time.monotonic() + PATIENCE
    while True:
        client = _connected(home)
        if client is not None:
            if _version(home) == version or not _make_way(client):
                return client
            client.close()
        report = detached(lambda tell: server.run(home.path, version, idle, tell, shared=shared))
        if report != READY and time.monotonic() > give_up:
            raise ConnectError(report.decode("utf-8", "replace"))
        if report != READY:
            time.sleep(PAUSE)  # another one is starting, or ending


def _connected(home: Directory) -> socket.socket | None:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        client.connect(f"/proc/self/fd/{home.fd}/{server.SOCKET}")
    except OSError:
        client.close()
        return None
    return client


def _version(home: Directory) -> str:
    try:
        return str(json.loads(home.read(server.IDENTITY))["version"])
    except (OSError, ValueError, KeyError):
        return ""


def _make_way(client: socket.socket) -> bool:
    """Ask a daemon of another version to end; whether it does."""
    client.sendall(b'{"op":"retire"}\n')
    client.settimeout(PATIENCE)
    answer = b""
    try:
        while b"\n" not in answer and len(answer) < RETIRE_LIMIT:
            data = client.recv(RETIRE_LIMIT)
            if not data:
                return True
            answer += data
        return bool(json.loads(answer).get("ok"))
    except (OSError, ValueError):
        return False


class Pipe:
    """One direction of the relay; reads only while there is nothing left to write."""

    def __init__(self, loop: EventLoop, source: int, sink: int, done: Callable[[], None]) -> None:
        self._loop = loop
        self._source = source
        self._sink = sink
        self._done = done
        self._waiting = memoryview(b"")

    def readable(self) -> Callable[[], None] | None:
        """What to do when there is something to read."""
        return None if self._waiting else self._read

    def writable(self) -> Callable[[], None] | None:
        """What to do when there is room to write."""
        return self._write if self._waiting else None

    def _read(self) -> None:
        try:
            data = os.read(self._source, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._done()
            return
        self._waiting = memoryview(data)
        self._write()

    def _write(self) -> None:
        try:
            count = os.write(self._sink, self._waiting)
        except BlockingIOError:
            return
        except OSError:
            self._done()
            return
        self._waiting = self._waiting[count:]


class Wires:
    """Standard input and output, both tied to a socket."""

    def __init__(self, client: socket.socket, loop: EventLoop) -> None:
        """Either end that is closed stops the loop."""
        self._loop = loop
        self._fd = client.fileno()
        self._inward = Pipe(loop, STDIN, self._fd, loop.stop)
        self._outward = Pipe(loop, self._fd, STDOUT, loop.stop)
        for end in (STDIN, STDOUT, self._fd):
            os.set_blocking(end, False)

    def watch(self) -> None:
        """See to what can be passed on; to be called before each turn of the loop."""
        inward, outward = self._inward, self._outward
        _watch(self._loop, STDIN, inward.readable(), None)
        _watch(self._loop, STDOUT, None, outward.writable())
        _watch(self._loop, self._fd, outward.readable(), inward.writable())


def _relay(client: socket.socket) -> None:
    """Pass on both directions until one of them ends."""
    loop = EventLoop()
    wires = Wires(client, loop)
    while not loop.stopped:
        wires.watch()
        loop.turn()


def _watch(
    loop: EventLoop,
    fd: int,
    on_readable: Callable[[], None] | None,
    on_writable: Callable[[], None] | None,
) -> None:
    try:
        loop.watch(fd, on_readable=on_readable, on_writable=on_writable)
    except PermissionError:  # a plain file, which epoll does not take; it is always ready
        for callback in (on_readable, on_writable):
            if callback is not None:
                loop.call_soon(callback)
