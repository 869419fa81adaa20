"""How routes are declared, which costs a server next to nothing when it starts.

A declaration is what both sides of the API are made of: `bound_route` makes it a route that answers
requests, and `description` tells in openapi.json what the route takes and gives.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict, TypeVar, Unpack

from pydantic import BaseModel
from starlette.responses import Response

Endpoint = Callable[..., Awaitable[Response]]
"""A coroutine function whose parameters say what of a request it takes; it gives a ready answer."""
_Declared = TypeVar("_Declared", bound=Endpoint)


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """Where a parameter comes from, and what it may be; pydantic's names for the limits."""

    ge: int | None = None
    le: int | None = None
    lt: int | None = None
    max_length: int | None = None

    def limits(self) -> dict[str, int]:
        """The limits that are set."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: limit for name, limit in found.items() if limit is not None}


class Query(Parameter):
    """A parameter of the query string, or a model of all of them."""


class Header(Parameter):
    """A header, whose name has a hyphen for each underscore."""


class Described(TypedDict, total=False):
    """What only the description of a route needs, as FastAPI calls it."""

    tags: list[str]
    status_code: int
    response_model: type[BaseModel]
    response_class: type[Response]
    responses: dict[int | str, dict[str, Any]]
    include_in_schema: bool


@dataclass(frozen=True)
class Declaration:
    """One route."""

    method: str
    path: str
    endpoint: Endpoint
    described: Described


@dataclass(frozen=True)
class Api:
    """The routes of an application, in the order in which they are tried."""

    declarations: list[Declaration] = field(default_factory=list)

    def get(self, path: str, **described: Unpack[Described]) -> Callable[[_Declared], _Declared]:
        """Declare what answers GET."""
        return self._declare("GET", path, described)

    def post(self, path: str, **described: Unpack[Described]) -> Callable[[_Declared], _Declared]:
        """Declare what answers POST."""
        return self._declare("POST", path, described)

    def put(self, path: str, **described: Unpack[Described]) -> Callable[[_Declared], _Declared]:
        """Declare what answers PUT."""
        return self._declare("PUT", path, described)

    def patch(self, path: str, **described: Unpack[Described]) -> Callable[[_Declared], _Declared]:
        """Declare what answers PATCH."""
        return self._declare("PATCH", path, described)

    def delete(self, path: str, **described: Unpack[Described]) -> Callable[[_Declared], _Declared]:
        """Declare what answers DELETE."""
        return self._declare("DELETE", path, described)

    def _declare(
        self, method: str, path: str, described: Described
    ) -> Callable[[_Declared], _Declared]:
        def declare(endpoint: _Declared) -> _Declared:
            self.declarations.append(Declaration(method, path, endpoint, described))
            return endpoint

        return declare
