"""The description of the API, for people and for programs."""

import asyncio
from collections.abc import Callable, Iterable

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from trainway.json_types import Json
from trainway.server.api import Api, Declaration
from trainway.server.docs_page import POLICY, docs_page
from trainway.server.paths import BASE_PATH

_Describe = Callable[[Iterable[Declaration]], Json]


class Description:
    """The description of an API, which is made when somebody reads it."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._made: Json = {}

    async def read(self) -> Json:
        """The description; it is made once."""
        if not self._made:
            self._make(await asyncio.to_thread(_imported))
        return self._made

    def _make(self, describe: _Describe) -> None:
        """Not in a thread: pydantic completes models as if there were one thread only."""
        if not self._made:
            self._made = describe(self._api.declarations)


def add_docs_route(api: Api, description: Description) -> None:
    """The page beside openapi.json."""

    @api.get(f"{BASE_PATH}/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        page = docs_page(await description.read())
        return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})


def description_route(description: Description) -> Route:
    """The route of openapi.json itself."""

    async def openapi(_request: Request) -> JSONResponse:
        return JSONResponse(await description.read())

    return Route(f"{BASE_PATH}/openapi.json", openapi)


def _imported() -> _Describe:
    from trainway.server.description import openapi  # noqa: PLC0415 - imports FastAPI

    return openapi
