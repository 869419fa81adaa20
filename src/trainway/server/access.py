"""Who may use the server.

The unix socket is the owner's alone, by its mode. Over TCP a token is needed wherever the server
listens off loopback, and wherever one is set. Without a token a web page must still not reach it:
neither by a name that its author points at loopback, nor across origins.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from trainway.server.errors import answer
from trainway.server.paths import BASE_PATH
from trainway.server.tokens import digest, is_loopback

_PUBLIC: Final = f"{BASE_PATH}/health"


@dataclass(frozen=True)
class Access:
    """Lets requests through to the app, or refuses them."""

    app: ASGIApp
    token_digest: str = ""
    """Empty: none is needed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request."""
        if scope["type"] == "http" and scope.get("client") is not None:  # not the unix socket
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            refusal = self._refusal(scope["path"], headers)
            if refusal is not None:
                code, message = refusal
                status = 401 if code == "unauthorized" else 403
                hint = "set TRAINWAY_TOKEN to the server's token" if status == 401 else None
                await answer(status, code, message, hint=hint)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _refusal(self, path: str, headers: Mapping[bytes, str]) -> tuple[str, str] | None:
        if self.token_digest:
            if path == _PUBLIC or self._has_token(headers.get(b"authorization", "")):
                return None
            return "unauthorized", "the server wants a token"
        host = headers.get(b"host", "")
        if not is_loopback(_host(f"//{host}")):
            return "forbidden", f"the server is not called {host!r}"
        origin = headers.get(b"origin", "")
        if origin and urlsplit(origin).netloc != host:
            return "forbidden", f"pages of {origin} may not use the server"
        return None

    def _has_token(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        is_right = hmac.compare_digest(digest(token.strip()), self.token_digest)
        return scheme.lower() == "bearer" and is_right


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
