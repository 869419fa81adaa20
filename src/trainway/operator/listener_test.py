import asyncio
import ssl
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from trainway.kube.certificates import renewed
from trainway.operator import listener
from trainway.operator.listener import listening


async def answer(_request: web.Request) -> web.Response:
    return web.Response(text="here")


def app() -> web.Application:
    made = web.Application()
    made.router.add_get("/", answer)
    return made


def test_clients_that_stay_connected_do_not_keep_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "_GRACE_SECONDS", 1000.0)
    certificates, _ = renewed(None, ("127.0.0.1",), datetime.now(UTC))
    (tmp_path / "crt").write_text(certificates.certificate)
    (tmp_path / "key").write_text(certificates.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "crt", tmp_path / "key")
    trusting = ssl.create_default_context(cadata=certificates.authorities)

    async def main() -> None:
        connector = aiohttp.TCPConnector(ssl=trusting)
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            listening(app(), "127.0.0.1", 0, context) as port,
        ):
            response = await session.get(f"https://127.0.0.1:{port}/")
            assert await response.text() == "here"  # and the connection stays open

    asyncio.run(asyncio.wait_for(main(), 60))


def test_clients_that_stay_connected_are_told_to_leave_before_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listener, "_PARTING_SECONDS", 1000.0)

    async def main() -> None:
        ending = asyncio.Event()

        async def serve(ready: asyncio.Future[int]) -> None:
            async with listening(app(), "127.0.0.1", 0) as port:
                ready.set_result(port)
                await ending.wait()

        ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(serve(ready))
        url = f"http://127.0.0.1:{await ready}/"
        async with aiohttp.ClientSession() as session:
            kept = await session.get(url)
            assert await kept.text() == "here"
            assert kept.headers.get("Connection") != "close"
            ending.set()
            await asyncio.sleep(0)
            last = await session.get(url)
            assert await last.text() == "here"
            assert last.headers["Connection"] == "close"
            await serving  # since nobody keeps a connection any more

    asyncio.run(asyncio.wait_for(main(), 60))


def test_an_address_that_is_taken_is_an_error_and_leaves_nothing_open() -> None:
    async def main() -> None:
        async with listening(app(), "127.0.0.1", 0) as port:
            with pytest.raises(OSError, match="address already in use"):
                async with listening(app(), "127.0.0.1", port):
                    pass

    asyncio.run(main())


def test_a_caller_that_hangs_up_in_the_middle_is_not_logged_as_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        begun, over = asyncio.Event(), asyncio.Event()

        async def read(request: web.Request) -> web.Response:
            begun.set()
            try:
                return web.Response(body=await request.read())
            finally:
                over.set()

        made = web.Application()
        made.router.add_post("/", read)
        async with listening(made, "127.0.0.1", 0) as port:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")
            await begun.wait()
            writer.transport.abort()
            await over.wait()

    asyncio.run(main())
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def ended(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: a\r\n"], ids=["nothing", "half"])
def test_who_asks_for_nothing_is_left(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "_HEAD_SECONDS", 0.0)
    monkeypatch.setattr(listener, "_LOOK_SECONDS", 0.02)

    async def main() -> None:
        async with listening(app(), "127.0.0.1", 0) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(said)
            assert await ended(reader) == b""
            writer.close()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_of_too_many_the_oldest_is_left_and_who_has_asked_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listener, "_MOST_SILENT", 1)
    monkeypatch.setattr(listener, "_LOOK_SECONDS", 0.02)
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    async def main() -> None:
        async with listening(app(), "127.0.0.1", 0) as port:
            asking = await asyncio.open_connection("127.0.0.1", port)
            asking[1].write(request)
            await asking[0].readuntil(b"here")
            first, second = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            assert await ended(first[0]) == b""
            for reader, writer in (asking, second):
                writer.write(request)
                assert (await reader.readuntil(b"here")).startswith(b"HTTP/1.1 200")
            for _, writer in (asking, first, second):
                writer.close()

    asyncio.run(asyncio.wait_for(main(), 60))
