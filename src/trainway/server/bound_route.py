"""Routes that are made of declarations, with what a request needs made at the first request.

A server starts often and is asked for few of its routes.
"""

from functools import cached_property

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trainway.server.api import Declaration
from trainway.server.binding import Binding
from trainway.server.json_body import StrictRequest, check_words


class BoundRoute(Route):
    """A route that takes strict requests and hands their parameters to its endpoint."""

    def __init__(self, declaration: Declaration) -> None:
        super().__init__(declaration.path, self._answer, methods=[declaration.method])
        self.methods = {declaration.method}  # Starlette's own answers HEAD wherever it answers GET
        self.declaration = declaration

    @cached_property
    def binding(self) -> Binding:
        """The parameters of the endpoint."""
        return Binding(self.declaration.endpoint, self.param_convertors)

    async def _answer(self, request: Request) -> Response:
        check_words(request)
        strict = StrictRequest(request.scope, request.receive)
        return await self.declaration.endpoint(**await self.binding.arguments(strict))
