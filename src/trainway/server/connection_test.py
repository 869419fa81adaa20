"""Against a real uvicorn on a loopback port, since what counts is what it does with its sockets."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

import pytest
from starlette.types import Receive, Scope, Send

from trainway.server import connection
from trainway.server.process import Listen, tcp_socket
from trainway.server.serving import tcp_server
from trainway.server.tokens import TokenFile
from trainway.server.web.web import Web

LIMIT_S = 60.0
HEAD = b"POST /api/v1/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer right\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Opener(Protocol):
    """Connects, and sends something."""

    async def __call__(self, data: bytes = b"") -> Streams: ...


class App:
    """Answers once it may, with what it was sent."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.requests = 0

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        self.requests += 1
        self.asked.set()
        body = (await receive()).get("body", b"")
        await self.may_answer.wait()
        headers = [(b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@contextlib.asynccontextmanager
async def serving(app: App, folder: Path) -> AsyncIterator[Opener]:
    (folder / "token").write_text("right")
    server = tcp_server(app, Web(folder, TokenFile(folder / "token")))
    listener = tcp_socket(Listen("127.0.0.1", 0))
    task = asyncio.create_task(server.serve([listener]))
    writers: list[asyncio.StreamWriter] = []

    async def opened(data: bytes = b"") -> Streams:
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writers.append(writer)
        writer.write(data)
        return reader, writer

    try:
        yield opened
    finally:
        for writer in writers:
            writer.close()
        server.should_exit = True
        await task


async def is_ended(streams: Streams) -> bool:
    """Wait until the other side ends the connection; nothing else may come."""
    async with asyncio.timeout(LIMIT_S):
        try:
            return await streams[0].read() == b""
        except ConnectionResetError:
            return True


async def is_answered(streams: Streams) -> bool:
    async with asyncio.timeout(LIMIT_S):
        line = await streams[0].readline()
        return line.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "data",
    [b"", b"GET /api/v1/health HT", HEAD, HEAD + b"Content-Length: 9\r\n\r\nhalf"],
    ids=["silent", "half a line", "half a head", "half a body"],
)
def test_who_does_not_go_on_is_left(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.05)
    monkeypatch.setattr(connection, "BODY_SECONDS", 0.05)

    async def main() -> None:
        app = App()
        app.may_answer.clear()
        async with serving(app, tmp_path) as opened:
            assert await is_ended(await opened(data))
            app.may_answer.set()

    asyncio.run(main())


def test_a_head_that_comes_in_drops_has_no_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.2)

    async def main() -> None:
        async with serving(App(), tmp_path) as opened:
            streams = await opened(b"GET / HTTP/1.1\r\n")
            ended = asyncio.create_task(is_ended(streams))
            while not ended.done():
                with contextlib.suppress(ConnectionError):
                    streams[1].write(b"X")
                    await streams[1].drain()
                await asyncio.sleep(0.01)
            assert ended.result()

    asyncio.run(main())


def test_the_oldest_one_that_is_not_served_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "most_connections", lambda: 3)

    async def main() -> None:
        app = App()
        app.may_answer.clear()
        async with serving(app, tmp_path) as opened:
            served = await opened(HEAD + b"Content-Length: 2\r\n\r\nhi")
            await app.asked.wait()
            silent = [await opened() for _ in range(5)]
            for streams in silent[:3]:
                assert await is_ended(streams)
            app.may_answer.set()
            assert await is_answered(served)
            silent[4][1].write(HEAD + b"Content-Length: 0\r\n\r\n")
            assert await is_answered(silent[4])

    asyncio.run(main())


def test_where_all_are_served_the_new_one_has_to_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "most_connections", lambda: 1)

    async def main() -> None:
        app = App()
        app.may_answer.clear()
        async with serving(app, tmp_path) as opened:
            served = await opened(HEAD + b"Content-Length: 0\r\n\r\n")
            await app.asked.wait()
            assert await is_ended(await opened())
            app.may_answer.set()
            assert await is_answered(served)

    asyncio.run(main())


def test_a_connection_can_be_used_again(tmp_path: Path) -> None:
    async def main() -> None:
        app = App()
        async with serving(app, tmp_path) as opened:
            reader, writer = await opened()
            for _ in range(3):
                writer.write(HEAD + b"Content-Length: 2\r\n\r\nhi")
                async with asyncio.timeout(LIMIT_S):
                    head = await reader.readuntil(b"\r\n\r\n")
                    assert head.startswith(b"HTTP/1.1 200")
                    assert await reader.readexactly(2) == b"hi"
        assert app.requests == 3

    asyncio.run(main())


def test_who_resets_a_connection_does_not_come_in_by_it(tmp_path: Path) -> None:
    """The kernel does not say who has reset a connection; that must not look like the owner."""
    request = b"POST /api/v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"

    async def main() -> None:
        app = App()
        async with serving(app, tmp_path) as opened:
            _, first = await opened()
            address = first.get_extra_info("peername")
            for _ in range(50):
                # All of it before the loop can take the connection.
                with socket.create_connection(address) as client:
                    linger = struct.pack("ii", 1, 0)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    client.sendall(request)
            # It is answered behind all of them.
            assert await is_answered(await opened(HEAD + b"Content-Length: 0\r\n\r\n"))
        assert app.requests == 1

    asyncio.run(main())
