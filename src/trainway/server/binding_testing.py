"""Two applications of the same declarations, ours and one of FastAPI, and requests to both."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import wraps
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message

from trainway.errors import TrainwayError
from trainway.server.api import Declaration, Endpoint
from trainway.server.bound_route import BoundRoute
from trainway.server.description import described_app
from trainway.server.errors import HANDLERS, answer, answer_failure, answer_for
from trainway.server.json_answer import JsonAnswer
from trainway.server.json_body import QUICK, StrictRequest, check_words
from trainway.server.plain_words import no_json, plain

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
JSON = ("content-type", "application/json")


@dataclass(frozen=True)
class Asked:
    """A request."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (JSON,)
    is_cut: bool = False
    """Whether its sender is gone before the end of the body."""


@dataclass(frozen=True)
class Answered:
    """An answer."""

    status: int
    body: Any
    kind: str
    location: str


class StrictRoute(APIRoute):
    """A route of FastAPI that takes strict requests, as ours do."""

    def get_route_handler(self) -> Handler:
        """The handler, behind a look at the request."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            check_words(request)
            return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly


class Pair:
    """Ours and theirs, which answer alike."""

    def __init__(self, declarations: Sequence[Declaration]) -> None:
        self._apps = ours(declarations), theirs(declarations)

    def assert_alike(self, asked: Asked) -> int:
        """Both give the same answer to a request; its status."""
        mine, reference = (ask(app, asked) for app in self._apps)
        assert mine == reference, asked
        return mine.status


def ours(declarations: Iterable[Declaration]) -> ASGIApp:
    """The application as it is served."""
    routes = [BoundRoute(_echoing(declaration)) for declaration in declarations]
    return Starlette(routes=routes, exception_handlers=HANDLERS)


def theirs(declarations: Iterable[Declaration]) -> ASGIApp:
    """The same as FastAPI serves it, with its errors in our shape."""
    app = described_app(map(_echoing, declarations), StrictRoute)
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    _add_handlers(app)
    return app


def ask(app: ASGIApp, asked: Asked) -> Answered:
    """Ask an application without a socket."""
    sent: list[Message] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": asked.method,
        "scheme": "http",
        "path": asked.path,
        "raw_path": asked.path.encode("utf-8", "replace"),
        "query_string": asked.query.encode("latin-1"),
        "root_path": "",
        "headers": [(name.encode(), text.encode("latin-1")) for name, text in asked.headers],
        "client": None,
        "server": ("test", 80),
    }
    messages: list[Message] = [
        {"type": "http.request", "body": asked.body, "more_body": asked.is_cut},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    async def serve() -> None:
        await app(scope, receive, send)

    if len(asked.body) > QUICK:  # which is read in a thread of its own
        asyncio.run(serve())
    else:
        with suppress(StopIteration):
            next(serve().__await__())
            raise AssertionError("it waits for something, where all is at hand")
    headers = dict(sent[0]["headers"])
    text = b"".join(part.get("body", b"") for part in sent[1:])
    kind = headers.get(b"content-type", b"").decode()
    location = headers.get(b"location", b"").decode()
    return Answered(sent[0]["status"], json.loads(text) if text else None, kind, location)


def _echoing(declaration: Declaration) -> Declaration:
    """The same route, which answers with what it was called with."""
    return replace(declaration, endpoint=_echo(declaration.endpoint))


def _echo(endpoint: Endpoint) -> Endpoint:
    @wraps(endpoint)
    async def echo(**arguments: Any) -> Response:
        return JsonAnswer({name: _shown(value) for name, value in sorted(arguments.items())})

    return echo


def _shown(value: Any) -> Any:
    """A value with its type."""
    if isinstance(value, BaseModel):
        given = sorted(value.model_fields_set)
        fields = {name: _shown(getattr(value, name)) for name in type(value).model_fields}
        return {"model": type(value).__name__, "given": given, "fields": fields}
    if isinstance(value, Request | Enum):
        return type(value).__name__ + (value.name if isinstance(value, Enum) else "")
    return repr(value)


def _add_handlers(app: FastAPI) -> None:
    async def malformed(_request: Request, error: Exception) -> JsonAnswer:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:])
        if first["type"] == "json_invalid":
            return answer(422, "usage", no_json(first["ctx"]["error"], first["loc"][1]), None)
        return answer(422, "usage", plain(first), field or None)

    async def refused(request: Request, error: Exception) -> JsonAnswer:
        if isinstance(error.__cause__, TrainwayError):  # FastAPI hides what was wrong with a body
            return answer_for(error.__cause__)
        return await answer_failure(request, error)

    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(HTTPException, refused)
