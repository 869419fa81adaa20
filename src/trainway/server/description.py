"""The description of the API, openapi.json, which FastAPI writes.

To import FastAPI and to make the models of all answers takes longer than all else at the start of
a server, so this is imported when somebody reads the description.
"""

import inspect
from collections.abc import Iterable
from functools import wraps
from typing import Annotated, Any, Final, get_args, get_origin

import fastapi
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.responses import Response

from trainway import __version__
from trainway.json_types import Json
from trainway.server.api import Declaration, Endpoint, Header, Parameter
from trainway.server.models import ErrorAnswer

_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    "default": {"model": ErrorAnswer, "description": "an error"}
}


def openapi(declarations: Iterable[Declaration]) -> Json:
    """What the routes take and give."""
    return described_app(declarations).openapi()


def described_app(
    declarations: Iterable[Declaration], route_class: type[APIRoute] = APIRoute
) -> FastAPI:
    """The same routes as an application of FastAPI."""
    app = FastAPI(
        title="Trainway",
        version=__version__,
        summary="Write a training job once, run it anywhere.",
        openapi_url=None,
        responses=_ERRORS,
    )
    app.router.route_class = route_class
    for declaration in declarations:
        app.add_api_route(
            declaration.path,
            _marked_anew(declaration.endpoint),
            methods=[declaration.method],
            **declaration.described,  # type: ignore[arg-type]  # its tags may be enums
        )
    return app


def _marked_anew(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose parameters have FastAPI's marks in place of ours."""

    @wraps(endpoint)
    async def marked(**arguments: Any) -> Response:
        return await endpoint(**arguments)

    signature = inspect.signature(endpoint, eval_str=True)
    parameters = [
        parameter.replace(annotation=_annotation(parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    marked.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # which `inspect` reads
    return marked


def _annotation(annotation: Any) -> Any:
    mark = get_args(annotation)[-1] if get_origin(annotation) is Annotated else None
    if not isinstance(mark, Parameter):
        return annotation
    limits: dict[str, Any] = {**mark.limits()}
    anew = fastapi.Header(**limits) if isinstance(mark, Header) else fastapi.Query(**limits)
    return Annotated[get_args(annotation)[0], anew]
