"""Links to the dashboard, and logging out all who use it. The dashboard itself is in `web/`."""

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service


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

    @api.delete(f"{BASE_PATH}/dashboard/sessions", tags=["server"], response_model=EndedSessions)
    async def end_sessions() -> Response:
        """Log out every browser that uses the dashboard."""
        return JsonAnswer({"sessions": web.end_sessions()})
