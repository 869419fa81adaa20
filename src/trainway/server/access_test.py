import asyncio
import json
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from trainway.server.access import Access
from trainway.server.tokens import TokenFileError, digest, is_loopback, new_token, read_token_file

TCP = ("10.0.0.9", 1234)


async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


def ask(
    access: Access,
    headers: dict[str, str],
    client: tuple[str, int] | None = TCP,
    path: str = "/api/v1/jobs",
) -> tuple[int, Any]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "client": client, "path": path, "method": "GET", "headers": raw}
    asyncio.run(access(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


@dataclass(frozen=True)
class Case:
    name: str
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    client: tuple[str, int] | None = TCP
    path: str = "/api/v1/jobs"


WITH_TOKEN = [
    Case("the unix socket needs none", 200, client=None),
    Case("the right one", 200, {"Authorization": "Bearer right"}),
    Case("the word in small letters", 200, {"Authorization": "bearer right"}),
    Case("a wrong one", 401, {"Authorization": "Bearer wrong"}),
    Case("another scheme", 401, {"Authorization": "Basic right"}),
    Case("none", 401),
    Case("its digest is not it", 401, {"Authorization": f"Bearer {digest('right')}"}),
    Case("health is for everyone", 200, path="/api/v1/health"),
]


@pytest.mark.parametrize("case", WITH_TOKEN, ids=lambda case: case.name)
def test_a_token(case: Case) -> None:
    access = Access(app, digest("right"))
    assert ask(access, case.headers, case.client, case.path)[0] == case.status


WITHOUT_TOKEN = [
    Case("the unix socket", 200, client=None),
    Case("loopback by name", 200, {"Host": "localhost:8080"}),
    Case("loopback by number", 200, {"Host": "127.0.0.1:8080"}),
    Case("loopback in IPv6", 200, {"Host": "[::1]:8080"}),
    Case("a name that only points here", 403, {"Host": "evil.example:8080"}),
    Case("no name", 403),
    Case("half a name", 403, {"Host": "[::1"}),
    Case("our own pages", 200, {"Host": "localhost:8080", "Origin": "http://localhost:8080"}),
    Case("pages of others", 403, {"Host": "localhost:8080", "Origin": "http://evil.example"}),
    Case("pages of nobody", 403, {"Host": "localhost:8080", "Origin": "null"}),
]


@pytest.mark.parametrize("case", WITHOUT_TOKEN, ids=lambda case: case.name)
def test_pages_of_others_cannot_use_an_open_server(case: Case) -> None:
    assert ask(Access(app), case.headers, case.client)[0] == case.status


def test_a_refusal_has_the_shape_of_all_errors() -> None:
    status, body = ask(Access(app, digest("right")), {})
    assert status == 401
    assert body == {
        "error": {
            "code": "unauthorized",
            "message": "the server wants a token",
            "field": None,
            "hint": "set TRAINWAY_TOKEN to the server's token",
        }
    }


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["192.0.2.1", "::", "10.0.0.1", "localhost.evil.example", ""])
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_only_the_digest_of_a_token_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = new_token(file)
    assert token not in file.read_text()
    assert read_token_file(file) == digest(token)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_token_file_may_hold_the_token_itself(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("secret\n")
    assert read_token_file(file) == digest("secret")


def test_a_token_file_must_hold_something(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    for name in ("empty", "none"):
        with pytest.raises(TokenFileError, match=name):
            read_token_file(tmp_path / name)
