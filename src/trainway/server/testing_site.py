"""The whole application with a backend in memory, for tests that need no process."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message

from trainway.backends.file_store import FileStore
from trainway.engine.store import Store
from trainway.engine.testing import World
from trainway.server.app import create_app
from trainway.server.service import ProcessInfo, Service
from trainway.server.tokens import TokenFile
from trainway.server.web.web import Web

BASE = "/api/v1"


class Site:
    """An application, asked without a socket."""

    def __init__(self, world: World, home: Path) -> None:
        self.world = world
        info = ProcessInfo(1, "", "0", "")
        token = TokenFile(home / "token")
        self.web = Web(home, token)
        self.app = create_app(Service(world.engine, info, FileStore(home), token, self.web))
        self.entry: ASGIApp = self.app
        """What is asked: the application, or what a test has put before it."""

    async def ask(self, method: str, path: str, *body: bytes, **headers: str) -> tuple[int, Any]:
        """The status and the body of an answer to a request whose body comes in pieces."""
        pieces = list(body) or [b""]
        path, _, query = path.partition("?")
        sent: list[Message] = []
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": BASE + path,
            "raw_path": (BASE + path).encode("utf-8", "replace"),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (b"content-type", b"application/json"),
                *((name.replace("_", "-").encode(), text.encode("latin-1"))
                  for name, text in headers.items()),
            ],
            "client": None,
            "server": ("test", 80),
        }  # fmt: skip

        async def receive() -> Message:
            piece = pieces.pop(0) if pieces else b""
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.entry(scope, receive, send)
        text = b"".join(part.get("body", b"") for part in sent[1:])
        return int(sent[0]["status"]), json.loads(text) if text else None


Scene = Callable[[Site], Awaitable[None]]


def play(home: Path, scene: Scene, store: Store | None = None) -> None:
    """Let a scene happen at a new site."""

    async def run() -> None:
        world = World(store=store)
        await world.engine.start()
        try:
            await scene(Site(world, home))
        finally:
            await world.engine.close()

    asyncio.run(run())
