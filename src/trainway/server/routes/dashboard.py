"""Links to the dashboard, and who uses it. The dashboard itself is in `web/`."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainway.engine.times import time_text
from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.server.api import Api, Query
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service
from trainway.server.tokens import digest
from trainway.server.web.access import SECRET
from trainway.server.web.sessions import Session


class LinkRequest(BaseModel):
    """How somebody wants to reach the dashboard."""

    model_config = ConfigDict(extra="forbid")

    local: bool = Field(
        False, description="open a listener that browsers on the server's machine can reach"
    )
    port: int = Field(0, ge=0, lt=1 << 16, description="where it listens; 0: any port")


class Link(Shown):
    """What a link to the dashboard is made of."""

    code: str = Field(description="for `/dashboard/login?code=`; it can be used once, and soon")
    port: int | None = Field(description="where the listener is, if one was asked for")


class SessionInfo(Shown):
    """A browser that is logged in."""

    id: str = Field(description="tells it from others; nobody can log in with it")
    host: str = Field(description="what it calls the server")
    began: str
    expires: str
    seen: str | None = Field(description="when it last asked for something, to a minute")
    address: str = Field(description="where it logged in from; empty: that is not known")
    agent: str = Field(description="what it calls itself; empty: that is not known")
    current: bool = Field(description="whether it is the one that asks")


class SessionList(Shown):
    """All browsers that are logged in."""

    items: list[SessionInfo]


class EndedSessions(Shown):
    """Who was logged out."""

    sessions: int = Field(description="how many browsers were logged in")


def add_dashboard_routes(api: Api, service: Service) -> None:
    """The routes below /dashboard."""
    web = service.web

    @api.post(f"{BASE_PATH}/dashboard/links", tags=["server"], status_code=201, response_model=Link)
    async def link(body: LinkRequest) -> Response:
        """Make a link that logs one browser in."""
        port = None
        if body.local:
            port = await web.listener.open(body.port, usual=web.sessions.port)
            web.sessions.listens_at(port)
        made = {"code": web.codes.make(web.token.current_digest()), "port": port}
        return JsonAnswer(made, 201, headers={"Cache-Control": "no-store"})

    @api.get(f"{BASE_PATH}/dashboard/sessions", tags=["server"], response_model=SessionList)
    async def sessions(request: Request) -> Response:
        """List the browsers that are logged in, the newest first."""
        mine = digest(getattr(request.state, SECRET, ""))
        items = [_shown(each, is_current=each.digest == mine) for each in web.sessions.all()]
        return JsonAnswer({"items": items}, headers={"Cache-Control": "no-store"})

    @api.delete(f"{BASE_PATH}/dashboard/sessions", tags=["server"], response_model=EndedSessions)
    async def end_sessions(keep: Annotated[str, Query(max_length=64)] = "") -> Response:
        """Log out every browser that uses the dashboard, but for the session `keep`."""
        return JsonAnswer({"sessions": web.end_sessions(keep)})

    @api.delete(
        f"{BASE_PATH}/dashboard/sessions/{{session}}", tags=["server"], response_model=EndedSessions
    )
    async def end_session(session: str) -> Response:
        """Log one browser out."""
        if not web.sessions.end_one(session):
            raise NotFoundError(
                f"there is no session {session[:64]!r}", hint="it may have ended meanwhile"
            )
        return JsonAnswer({"sessions": 1})


def _shown(session: Session, *, is_current: bool) -> Json:
    return {
        "id": session.id,
        "host": session.host,
        "began": _time(session.began),
        "expires": _time(session.expires),
        "seen": _time(session.seen) if session.seen else None,
        "address": session.address,
        "agent": session.agent,
        "current": is_current,
    }


def _time(seconds: float) -> str:
    return time_text(datetime.fromtimestamp(seconds, UTC))
