"""Routes without what only their description needs, which is made when somebody reads it.

Every route answers with a response that is ready, so the models of the answers are for
`openapi.json` alone. To make them costs more than the rest of the routes, at each start.
"""

from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from trainway.server.json_body import StrictRoute


class BareRoute(StrictRoute):
    """A route that cannot be described, if its answers are ready."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        answer = endpoint.__annotations__.get("return")
        if isinstance(answer, type) and issubclass(answer, Response):
            options |= {"response_model": None, "responses": None}
        super().__init__(path, endpoint, **options)
