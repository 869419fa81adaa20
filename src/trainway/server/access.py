"""Who may come in over TCP.

The unix socket is the owner's alone, by its mode, and nothing of this stands before it. Over TCP
everybody shows the token, on loopback too: every user and every container of the machine can get
there. Web pages of others are refused even with a token, since a browser sends what it knows to
whoever a page names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trainway.server.errors import answer
from trainway.server.paths import BASE_PATH
from trainway.server.tokens import TokenFile

ABORT: Final = "abort"
"""The key in the state of a request under which stands what ends its connection at once."""
_PUBLIC: Final = f"{BASE_PATH}/health"
_OTHER_SITES: Final = ("cross-site", "same-site")
"""What browsers say of pages that are not the server's own; the second has only its host."""


@dataclass(frozen=True)
class TokenAccess:
    """Lets the requests of a TCP listener through to the app, or refuses them."""

    app: ASGIApp
    token: TokenFile

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and each part of the answer: the token may change meanwhile."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        page = foreign_page(headers)
        if page:
            refusal = answer(403, "forbidden", f"{page} are not allowed to use the server")
            await refusal(scope, receive, send)
            return
        if scope["path"] == _PUBLIC:
            await self.app(scope, receive, send)
            return
        token = _bearer(headers.get(b"authorization", ""))
        if not self.token.accepts(token):
            await _unauthorized()(scope, receive, send)
            return

        async def checked(message: Message) -> None:
            if self.token.accepts(token):
                await send(message)
            else:
                scope["state"][ABORT]()

        await self.app(scope, receive, checked)


def foreign_page(headers: Mapping[bytes, str]) -> str:
    """The web page of somebody else that a request comes from, in words; empty: from none."""
    origin = headers.get(b"origin", "")
    site = headers.get(b"sec-fetch-site", "")
    if site in _OTHER_SITES:
        return f"pages of {origin}" if origin else "pages of other sites"
    if not site and origin and _place(origin) != headers.get(b"host", ""):
        return f"pages of {origin}"
    return ""


def _place(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _bearer(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _unauthorized() -> Response:
    hint = "set TRAINWAY_TOKEN to what `trainway server token show` prints on the server's machine"
    refusal = answer(401, "unauthorized", "the server requires a token", hint=hint)
    refusal.headers["WWW-Authenticate"] = "Bearer"
    return refusal
