import asyncio
from collections.abc import AsyncIterator

import pytest

from trainway.server import sse
from trainway.server.sse import ServerEvent, stream


def test_an_event_is_a_few_lines() -> None:
    event = ServerEvent("log", {"text": "ü\nx"}, "7")
    assert event.encode() == b'id: 7\nevent: log\ndata: {"text": "\\u00fc\\nx"}\n\n'
    assert ServerEvent("end", {}).encode() == b"event: end\ndata: {}\n\n"


async def collected(chunks: AsyncIterator[bytes], stopping: asyncio.Event) -> list[bytes]:
    return [bytes(chunk) async for chunk in sse._kept_alive(chunks, stopping)]


async def some(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def test_all_of_it_is_sent() -> None:
    assert asyncio.run(collected(some(b"a", b"b"), asyncio.Event())) == [b"a", b"b"]


def test_a_quiet_stream_is_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "_KEEP_ALIVE_S", 0.001)

    async def run() -> list[bytes]:
        go_on = asyncio.Event()

        async def quiet() -> AsyncIterator[bytes]:
            await go_on.wait()
            yield b"a"

        found = []
        async for chunk in sse._kept_alive(quiet(), asyncio.Event()):
            found.append(chunk)
            go_on.set()
        return found

    found = asyncio.run(run())
    assert found[0] == b": keep-alive\n\n"
    assert found[-1] == b"a"


def test_a_server_that_stops_breaks_it_off_and_the_source_is_closed() -> None:
    async def run() -> tuple[list[bytes], bool]:
        stopping = asyncio.Event()
        is_closed = False

        async def endless() -> AsyncIterator[bytes]:
            nonlocal is_closed
            try:
                yield b"a"
                stopping.set()
                await asyncio.Event().wait()
            finally:
                is_closed = True

        found = await asyncio.wait_for(collected(endless(), stopping), 60)
        return found, is_closed

    assert asyncio.run(run()) == ([b"a"], True)


def test_an_answer_that_nobody_caches() -> None:
    answer = stream(some(), asyncio.Event())
    assert answer.media_type == "text/event-stream"
    assert answer.headers["cache-control"] == "no-store"
