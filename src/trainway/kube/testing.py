"""For tests: a way to the API server that can be cut or fall silent, and kubeconfigs to go it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml


class Forwarder:
    """Passes bytes on to a server and back, until it is told not to."""

    def __init__(self, server: str, host: str = "127.0.0.1") -> None:
        self._host = host
        parts = urlsplit(server)
        self._target = (parts.hostname or "", parts.port or 443)
        self._scheme = parts.scheme
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._port = 0
        self._server: asyncio.Server | None = None
        self.accepted = 0
        """How many connections there were so far."""

    @property
    def url(self) -> str:
        """Where to go instead of to the server."""
        return f"{self._scheme}://{self._host}:{self._port}"

    def cut(self) -> None:
        """Break every connection there is."""
        for writer in self._writers:
            writer.transport.abort()

    def close(self) -> None:
        """Break every connection and accept no more."""
        if self._server is not None:
            self._server.close()
        self.cut()

    def silence(self) -> None:
        """Pass nothing on any more on the connections there are; new ones work."""
        self._is_open.clear()
        self._is_open = asyncio.Event()
        self._is_open.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Forwarder"]:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._accept, self._host, 0)
        self._port = self._server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            self.close()
            while self._tasks:
                self.cut()  # also what has connected just now
                await asyncio.wait(self._tasks, timeout=0.1)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        is_open = self._is_open
        self._writers.add(writer)
        try:
            target = await self._greet(reader, writer)
            far_reader, far_writer = await asyncio.open_connection(*target)
        except (OSError, EOFError):
            writer.transport.abort()
            return
        self._writers.add(far_writer)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._pass(reader, far_writer, is_open))
            tasks.create_task(self._pass(far_reader, writer, is_open))
        self._writers -= {writer, far_writer}

    async def _greet(
        self, _reader: asyncio.StreamReader, _writer: asyncio.StreamWriter
    ) -> tuple[str, int]:
        """Find out where the connection shall go."""
        return self._target

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_open: asyncio.Event
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if is_open.is_set():
                    writer.write(data)
                    await writer.drain()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


class HttpProxy(Forwarder):
    """A proxy that is asked with CONNECT."""

    def __init__(self) -> None:
        super().__init__("http://anywhere.invalid")

    async def _greet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[str, int]:
        head = await reader.readuntil(b"\r\n\r\n")
        _, target, _ = head.decode().split(" ", 2)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        host, _, port = target.rpartition(":")
        return host, int(port)


def changed_kubeconfig(
    original: Path,
    path: Path,
    *,
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
) -> Path:
    """A kubeconfig like another, with other fields of its clusters, or with another user."""
    config = yaml.safe_load(original.read_text())
    for entry in config["clusters"]:
        entry["cluster"] |= cluster or {}
    if user is not None:
        for entry in config["users"]:
            entry["user"] = user
    path.write_text(json.dumps(config))
    return path
