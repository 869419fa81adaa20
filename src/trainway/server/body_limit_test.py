import asyncio

import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from trainway.server.body_limit import BodyLimit

PIECES = (b"12", b"34", b"5")


def read(path: str, largest: int) -> bytes:
    got: list[bytes] = []
    pieces = iter(PIECES)

    async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
        got.extend([(await receive())["body"] for _ in PIECES])

    async def receive() -> Message:
        return {"type": "http.request", "body": next(pieces)}

    async def send(_message: Message) -> None:
        raise AssertionError("nothing is answered here")

    asyncio.run(BodyLimit(app, largest)({"type": "http", "path": path}, receive, send))
    return b"".join(got)


def test_a_body_that_is_not_too_large() -> None:
    assert read("/api/v1/jobs", 5) == b"12345"


def test_a_body_is_refused_as_soon_as_it_is_too_large() -> None:
    with pytest.raises(HTTPException, match="at most 4 bytes") as caught:
        read("/api/v1/jobs", 4)
    assert caught.value.status_code == 413


def test_files_go_to_the_disk_and_may_be_larger() -> None:
    assert read("/api/v1/files", 1) == b"12345"
