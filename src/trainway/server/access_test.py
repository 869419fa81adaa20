import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from trainway.server.access import ABORT, TokenAccess
from trainway.server.tokens import TokenFile, digest

RIGHT = {"Authorization": "Bearer right"}


async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


@pytest.fixture
def token(tmp_path: Path) -> TokenFile:
    path = tmp_path / "token"
    path.write_text("right\n")
    return TokenFile(path)


def request(
    access: TokenAccess,
    headers: dict[str, str],
    path: str = "/api/v1/jobs",
    abort: Callable[[], None] = lambda: None,
) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "path": path, "method": "GET", "headers": raw, "state": {ABORT: abort}}
    asyncio.run(access(scope, receive, send))
    return sent


def ask(access: TokenAccess, headers: dict[str, str], path: str) -> tuple[int, Any]:
    start, body = request(access, headers, path)
    return start["status"], json.loads(body["body"])


@dataclass(frozen=True)
class Case:
    name: str
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    path: str = "/api/v1/jobs"


HEALTH = "/api/v1/health"
CASES = [
    Case("the right token", 200, RIGHT),
    Case("the word in small letters", 200, {"Authorization": "bearer right"}),
    Case("a wrong one", 401, {"Authorization": "Bearer wrong"}),
    Case("another scheme", 401, {"Authorization": "Basic right"}),
    Case("none", 401),
    Case("an empty one", 401, {"Authorization": "Bearer "}),
    Case("letters that no token has", 401, {"Authorization": "Bearer \xe4\xff"}),
    Case("its digest is not it", 401, {"Authorization": f"Bearer {digest('right')}"}),
    Case("health is for everyone", 200, path=HEALTH),
    Case("what begins like health is not", 401, path=HEALTH + "/more"),
    Case("the description of the API is not", 401, path="/api/v1/openapi.json"),
    Case("nor is what does not exist", 401, path="/"),
    Case("a page of another site", 403, {**RIGHT, "Sec-Fetch-Site": "cross-site"}),
    Case("an image in it", 403, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}),
    Case("a page of another port", 403, {**RIGHT, "Sec-Fetch-Site": "same-site"}),
    Case("not even health", 403, {"Sec-Fetch-Site": "cross-site"}, path=HEALTH),
    Case("a page of its own", 200, {**RIGHT, "Sec-Fetch-Site": "same-origin"}),
    Case("an address that somebody typed", 401, {"Sec-Fetch-Site": "none"}),
    Case(
        "an old browser on its own page",
        200,
        {**RIGHT, "Host": "localhost:80", "Origin": "http://localhost:80"},
    ),
    Case(
        "an old browser elsewhere",
        403,
        {**RIGHT, "Host": "localhost:80", "Origin": "http://evil.example"},
    ),
    Case("an origin of nobody", 403, {**RIGHT, "Host": "localhost:80", "Origin": "null"}),
    Case("an origin that is none", 403, {**RIGHT, "Host": "a", "Origin": "http://[::1"}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_who_comes_in(case: Case, token: TokenFile) -> None:
    assert ask(TokenAccess(app, token), case.headers, case.path)[0] == case.status


def test_a_refusal_says_what_to_do(token: TokenFile) -> None:
    start, body = request(TokenAccess(app, token), {})
    assert (b"www-authenticate", b"Bearer") in start["headers"]
    assert json.loads(body["body"])["error"] == {
        "code": "unauthorized",
        "message": "the server requires a token",
        "field": None,
        "hint": "set TRAINWAY_TOKEN to what `trainway server token show` prints on the "
        "server's machine",
    }


def test_who_is_being_answered_is_cut_off_with_the_token(token: TokenFile) -> None:
    async def stream(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        token.path.write_text("another")
        await send({"type": "http.response.body", "body": b"two", "more_body": True})

    aborted: list[bool] = []
    sent = request(TokenAccess(stream, token), RIGHT, abort=lambda: aborted.append(True))
    assert [message.get("body") for message in sent] == [None, b"one"]
    assert aborted == [True]
