"""The dashboard behind its checks, asked as browsers do, without a socket."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message

from trainway.server.access import ABORT, TokenAccess
from trainway.server.errors import HANDLERS
from trainway.server.tokens import TokenFile
from trainway.server.web.access import CSRF_HEADER, BrowserAccess, cookie_name
from trainway.server.web.codes import Codes
from trainway.server.web.files import DashboardFiles
from trainway.server.web.routes import dashboard_routes
from trainway.server.web.sessions import Sessions, csrf_token
from trainway.server.web.throttle import Throttle
from trainway.server.web.web import Web

HOST = "127.0.0.1:4000"
OWN_PAGE = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
WINDOW = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}


@dataclass(frozen=True)
class Reply:
    """What a browser got."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def cookie(self) -> str:
        """The secret that the browser is to keep."""
        return self.headers["set-cookie"].partition("=")[2].partition(";")[0]


@dataclass
class Browsing:
    """A server with a dashboard, a clock that stands still, and no jobs."""

    home: Path
    hosts: frozenset[str] = frozenset({HOST, "localhost:4000"})
    now: float = 1_000_000.0
    aborted: list[bool] = field(default_factory=list)
    during: Callable[[], None] = lambda: None
    """What happens while an answer is being sent."""

    def __post_init__(self) -> None:
        folder = self.home / "built"
        (folder / "assets").mkdir(parents=True)
        (folder / "assets" / "main-1a2b.js").write_text("let jobs = 1;\n" * 100)
        (folder / "icon.svg").write_text("<svg/>")
        (folder / "index.html").write_text("<title>Trainway</title>")
        (self.home / "secret.txt").write_text("not for browsers")
        token = TokenFile(self.home / "token")
        self.web = Web(self.home, token, Codes(self.clock), Throttle(self.clock))
        self.web.files = DashboardFiles(folder)
        self.web.sessions = Sessions(self.home, token, self.clock)
        routes = [
            Route("/api/v1/jobs", self._jobs, methods=["GET", "POST"]),
            *dashboard_routes(self.web, "1.0"),
        ]
        app = Starlette(routes=routes, exception_handlers=HANDLERS)
        access = TokenAccess(app, token)
        self.access = BrowserAccess(app, access, self.web.sessions, self.hosts)

    def clock(self) -> float:
        """The time."""
        return self.now

    async def _jobs(self, _request: object) -> JSONResponse:
        self.during()
        return JSONResponse({"items": []})

    def log_in(self, host: str = HOST) -> str:
        """The secret of a new session."""
        return self.web.sessions.begin(host)

    def link(self) -> str:
        """The path of a new link."""
        return f"/dashboard/login?code={self.web.codes.make(self.web.token.current_digest())}"

    def change(self, secret: str, **headers: str) -> Reply:
        """Ask for a change, as a page of the dashboard does."""
        known = {**OWN_PAGE, CSRF_HEADER: csrf_token(secret), **headers}
        return self.ask("POST", "/api/v1/jobs", known, secret)

    def ask(
        self,
        method: str,
        path: str,
        headers: dict[str, str] | None = None,
        secret: str = "",
        body: bytes = b"",
        host: str = HOST,
    ) -> Reply:
        """Send a request, with the cookie of that secret."""
        sent: list[Message] = []
        path, _, query = path.partition("?")
        known = {"Host": host, **(headers or {})}
        if secret:
            known["Cookie"] = f'other=1; {cookie_name(host)}={secret}; more="x'
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), text.encode()) for name, text in known.items()],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 4000),
            "state": {ABORT: lambda: self.aborted.append(True)},
        }

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        asyncio.run(self.access(scope, receive, send))
        if not sent:
            return Reply(0, {}, b"")
        raw: list[tuple[bytes, bytes]] = sent[0]["headers"]
        found: dict[str, Any] = {name.decode(): value.decode() for name, value in raw}
        content = b"".join(message.get("body", b"") for message in sent[1:])
        return Reply(int(sent[0]["status"]), found, content)
