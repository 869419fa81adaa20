"""The addresses below /dashboard/: its files, logging in and out, and what its pages ask for."""

from datetime import UTC, datetime
from math import ceil
from typing import Final
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from trainway.server.json_answer import JsonAnswer
from trainway.server.web.access import SECRET, cookie_name
from trainway.server.web.files import WebFile
from trainway.server.web.headers import security_headers
from trainway.server.web.names import is_known_name
from trainway.server.web.pages import login_page, unbuilt_page
from trainway.server.web.paths import LOGIN, LOGOUT, ROOT, SESSION, local_goal
from trainway.server.web.sessions import LIFE_S, csrf_token
from trainway.server.web.web import Web

_LARGEST_FORM: Final = 16 << 10
_PRIVATE: Final = {"Cache-Control": "no-store"}


def dashboard_routes(web: Web, version: str) -> list[Route]:
    """All of them; the files come last, since they answer every address."""
    login = _Login(web)

    async def session(request: Request) -> Response:
        secret = getattr(request.state, SECRET, "")
        found = web.sessions.find(secret, request.headers.get("host", ""))
        expires = datetime.fromtimestamp(found.expires, UTC).isoformat() if found else None
        shown = {"csrf": csrf_token(secret), "expires": expires, "version": version}
        return JsonAnswer(shown, headers=_PRIVATE)

    async def logout(request: Request) -> Response:
        web.sessions.end(getattr(request.state, SECRET, ""))
        gone = JsonAnswer({"status": "logged out"}, headers=_PRIVATE)
        gone.delete_cookie(cookie_name(request.headers.get("host", "")))
        return gone

    async def file(request: Request) -> Response:
        is_gzip = "gzip" in request.headers.get("accept-encoding", "")
        found = web.files.find(request.path_params["path"], gzipped=is_gzip)
        if found is not None:
            return _answered(found, request)
        if web.files.is_built:
            raise HTTPException(404, "the dashboard has no such file")
        return unbuilt_page()

    return [
        Route(ROOT.rstrip("/"), _to_first_page),
        Route(LOGIN, login.show, methods=["GET"]),
        Route(LOGIN, login.log_in, methods=["POST"]),
        Route(LOGOUT, logout, methods=["POST"]),
        Route(SESSION, session),
        Route(f"{ROOT}{{path:path}}", file),
    ]


async def _to_first_page(_request: Request) -> Response:
    return RedirectResponse(ROOT, 308)


def _answered(found: WebFile, request: Request) -> Response:
    headers = {
        **security_headers(),
        "Cache-Control": found.cache,
        "Content-Type": found.media_type,
        "Vary": "Accept-Encoding",
        "ETag": found.tag,
    }
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    if found.encoding:
        headers["Content-Encoding"] = found.encoding
    return Response(found.content, headers=headers)


class _Login:
    """Exchanges a code or a token for a cookie."""

    def __init__(self, web: Web) -> None:
        self._web = web

    async def show(self, request: Request) -> Response:
        """Take the code of a link, or show how to log in."""
        goal, code = local_goal(request.query_params.get("next", "")), request.query_params
        if request.method == "HEAD" or "code" not in code:
            return self._page(goal)
        if self._web.codes.use(code["code"], self._web.token.current_digest()):
            return self._welcome(request, goal, is_secure=code.get("secure") == "1")
        problem = "The link has been used or is too old. Run trainway dashboard for another one."
        return self._page(goal, problem, 403)

    async def log_in(self, request: Request) -> Response:
        """Take the token of a form."""
        form = await _form(request)
        goal, token = local_goal(form.get("next", "")), form.get("token", "")
        address = request.client.host if request.client else ""
        is_known = is_known_name(request.headers.get("host", ""), self._web.sessions.hosts())
        wait_s = self._web.throttle.wait_s(address, by_known_name=is_known)
        if wait_s > 0:
            return self._too_many(goal, ceil(wait_s))
        if not self._web.token.accepts(token):
            self._web.throttle.failed(address, by_known_name=is_known)
            return self._page(goal, "That is not the token of the server.", 403)
        origin = request.headers.get("origin", "")
        return self._welcome(request, goal, is_secure=origin.startswith("https:"))

    def _too_many(self, goal: str, wait_s: int) -> Response:
        problem = (
            f"Too many wrong tokens. Wait {wait_s} seconds, or open a link that trainway "
            "dashboard prints."
        )
        page = self._page(goal, problem, 429)
        page.headers["Retry-After"] = str(wait_s)
        return page

    def _page(self, goal: str, problem: str = "", status: int = 200) -> Response:
        has_token = bool(self._web.token.current_digest())
        return login_page(LOGIN, goal, has_token=has_token, problem=problem, status=status)

    def _welcome(self, request: Request, goal: str, *, is_secure: bool) -> Response:
        host = request.headers.get("host", "")
        entered = RedirectResponse(goal, 303, headers={**security_headers({}), **_PRIVATE})
        entered.set_cookie(
            cookie_name(host),
            self._web.sessions.begin(
                host,
                request.client.host if request.client else "",
                request.headers.get("user-agent", ""),
            ),
            max_age=LIFE_S,
            path="/",
            secure=is_secure,
            httponly=True,
            samesite="strict",
        )
        return entered


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form that is small."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST_FORM:
            raise HTTPException(413, "the form is too large")
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=10)
    except ValueError:
        raise HTTPException(400, "the form has too many fields") from None
    return {name: values[0] for name, values in fields.items()}
