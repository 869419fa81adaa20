"""Routes that are made of declarations, with what a request needs made at the first request.

A server starts often and is asked for few of its routes.
"""

from functools import cached_property

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from trainway.server.api import Declaration
from trainway.server.binding import Binding
from trainway.server.json_body import StrictRequest, check_words


class BoundRoute(BaseRoute):
    """A route that takes strict requests and hands their parameters to its endpoint."""

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        self._beginning = declaration.path.partition("{")[0]
        """What every path of the route begins with."""

    @cached_property
    def route(self) -> Route:
        """Starlette's own, whose pattern takes a while to compile."""
        route = Route(self.declaration.path, self._answer, methods=[self.declaration.method])
        route.methods = {self.declaration.method}  # Starlette's also answers HEAD where GET is
        return route

    @cached_property
    def binding(self) -> Binding:
        """The parameters of the endpoint."""
        return Binding(self.declaration.endpoint, self.route.param_convertors)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is for this route, and what its path says."""
        if not scope["path"].startswith(self._beginning):
            return Match.NONE, {}
        return self.route.matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or say that the route does not take its method."""
        await self.route.handle(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        check_words(request)
        strict = StrictRequest(request.scope, request.receive)
        return await self.declaration.endpoint(**await self.binding.arguments(strict))
