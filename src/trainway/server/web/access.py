"""Which requests of browsers come in: those of logged-in ones, and what shows how to log in.

It stands before `TokenAccess`, which decides on all others, and adds to its rules: a browser that
is logged in needs no token, but has to show with every change that a page of the server makes it.
At a listener that only this machine reaches, the server has to be called by a name of this machine:
other names may be those of web pages whose address was changed to this machine's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trainway.server.access import ABORT, TokenAccess, foreign_page
from trainway.server.errors import answer
from trainway.server.web.paths import DATA, LOGIN, LOGOUT, ROOT
from trainway.server.web.sessions import Sessions, is_csrf_token

SECRET: Final = "secret"  # noqa: S105 - the name of a key
"""The key in the state of a request under which stands the secret of its session."""
CSRF_HEADER: Final = "X-Trainway-CSRF"
_READING: Final = ("GET", "HEAD")


@dataclass(frozen=True)
class BrowserAccess:
    """Lets the requests of logged-in browsers through to the app."""

    app: ASGIApp
    others: TokenAccess
    """What decides on requests that are not those of a logged-in browser."""
    sessions: Sessions
    hosts: frozenset[str] = frozenset()
    """What the server may be called; empty: anything."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and each part of the answer: the session may end meanwhile."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, path = headers.get(b"host", ""), scope["path"]
        if self.hosts and host not in self.hosts:
            await _wrong_host(scope, receive, send)
            return
        is_page = path == ROOT.rstrip("/") or path.startswith(ROOT)
        if b"authorization" in headers or not (is_page or cookie_of(headers)):
            await self.others(scope, receive, send)
        elif foreign_page(headers):
            # Following a link is not what the page of another site does with the answer.
            is_open = is_page and path not in DATA and _is_navigation(scope, headers)
            await (self.app if is_open else self.others)(scope, receive, send)
        else:
            await self._own(scope, receive, send, headers)

    async def _own(
        self, scope: Scope, receive: Receive, send: Send, headers: Mapping[bytes, str]
    ) -> None:
        """Answer a request that no page of another site has made."""
        host, path, secret = headers.get(b"host", ""), scope["path"], cookie_of(headers)
        if self.sessions.find(secret, host) is None:
            await self._stranger(scope, receive, send, headers)
            return
        given = headers.get(CSRF_HEADER.lower().encode(), "")
        if scope["method"] not in _READING and path != LOGIN and not is_csrf_token(secret, given):
            hint = "load the page again"
            refusal = answer(403, "csrf", f"a change needs the header {CSRF_HEADER}", hint=hint)
            await refusal(scope, receive, send)
            return
        scope.setdefault("state", {})[SECRET] = secret

        async def checked(message: Message) -> None:
            if path == LOGOUT or self.sessions.find(secret, host) is not None:
                await send(message)
            else:
                scope["state"][ABORT]()

        await self.app(scope, receive, checked)

    async def _stranger(
        self, scope: Scope, receive: Receive, send: Send, headers: Mapping[bytes, str]
    ) -> None:
        """Answer a browser that is not logged in: everybody may have the files of the page."""
        path = scope["path"]
        if not (path == ROOT.rstrip("/") or path.startswith(ROOT)):
            await self.others(scope, receive, send)
        elif path in DATA:
            hint = "run trainway dashboard on the server's machine, or log in with its token"
            refusal = answer(401, "unauthorized", "nobody is logged in", hint=hint)
            await refusal(scope, receive, send)
        elif path != LOGIN and _is_navigation(scope, headers):
            query = scope["query_string"].decode("latin-1")
            goal = quote(f"{path}?{query}" if query else path, safe="/")
            await RedirectResponse(f"{LOGIN}?next={goal}", 303)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def cookie_name(host: str) -> str:
    """The name of the cookie: browsers give the same cookies to all ports of a host."""
    _, _, port = host.rpartition(":")
    return f"trainway-session-{port}" if port.isdecimal() else "trainway-session"


def cookie_of(headers: Mapping[bytes, str]) -> str:
    """The secret in the cookie of a request; empty: it has none."""
    cookies = cookie_parser(headers.get(b"cookie", ""))
    return cookies.get(cookie_name(headers.get(b"host", "")), "")


def _is_navigation(scope: Scope, headers: Mapping[bytes, str]) -> bool:
    """Whether somebody opens an address in a window, as far as the browser says so."""
    mode = headers.get(b"sec-fetch-mode", "")
    is_window = mode == "navigate" and headers.get(b"sec-fetch-dest", "document") == "document"
    is_old = not mode and "text/html" in headers.get(b"accept", "")
    return scope["method"] in _READING and (is_window or is_old)


async def _wrong_host(scope: Scope, receive: Receive, send: Send) -> None:
    hint = "open the link that trainway dashboard prints"
    refusal = answer(403, "forbidden", "the server is not called that here", hint=hint)
    await refusal(scope, receive, send)
