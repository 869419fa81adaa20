"""The description of the API, for people."""

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from trainway.server.docs_page import POLICY, docs_page
from trainway.server.paths import BASE_PATH


def add_docs_route(app: FastAPI) -> None:
    """The page beside openapi.json."""

    @app.get(f"{BASE_PATH}/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(docs_page(app.openapi()), headers={"Content-Security-Policy": POLICY})
