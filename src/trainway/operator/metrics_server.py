"""Serves the metrics, to everyone or only to those whom the cluster allows it.

With `metrics.auth` on, a reader shows a token of the cluster and must be allowed to `get` the URL
`/metrics`, as the servers of Kubernetes themselves have it (TokenReview, SubjectAccessReview).
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from aiohttp import web

from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import ApiError
from trainway.kube.resources import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from trainway.operator.metrics import Metrics
from trainway.telemetry.registry import CONTENT_TYPE

PATH: Final = "/metrics"
REMEMBERED_S: Final = 10.0
_MOST_REMEMBERED: Final = 1000
_BEARER: Final = "bearer "

Allow = Callable[[str], Awaitable[int]]
"""A function that says the HTTP status for a token: 200, 401 or 403."""


def metrics_app(metrics: Metrics, allow: Allow | None) -> web.Application:
    """The application; without `allow` everyone may read."""

    async def page(request: web.Request) -> web.Response:
        status = 200 if allow is None else await allow(_token(request))
        if status != web.HTTPOk.status_code:
            return web.Response(
                status=status, text="Unauthorized" if status == 401 else "Forbidden"
            )
        return web.Response(body=metrics.page(), headers={"Content-Type": CONTENT_TYPE})

    app = web.Application()
    app.router.add_get(PATH, page)
    return app


def _token(request: web.Request) -> str:
    value = request.headers.get("Authorization", "")
    return value[len(_BEARER) :].strip() if value.lower().startswith(_BEARER) else ""


def token_review(token: str) -> Json:
    """Asks whose token this is."""
    return {
        "apiVersion": TOKEN_REVIEWS.api_version,
        "kind": TOKEN_REVIEWS.kind,
        "spec": {"token": token},
    }


def access_review(user: Mapping[str, Any]) -> Json:
    """Asks whether a user, as a TokenReview names one, may read the metrics."""
    spec: Json = {
        "user": user.get("username", ""),
        "nonResourceAttributes": {"path": PATH, "verb": "get"},
    }
    spec |= {name: user[name] for name in ("uid", "groups", "extra") if user.get(name)}
    return {
        "apiVersion": SUBJECT_ACCESS_REVIEWS.api_version,
        "kind": SUBJECT_ACCESS_REVIEWS.kind,
        "spec": spec,
    }


class MetricsReaders:
    """Who may read; remembers the answers of the cluster for a few seconds."""

    def __init__(self, client: Client, clock: Callable[[], float]) -> None:
        self._client = client
        self._clock = clock
        self._answers: dict[str, tuple[float, int]] = {}

    async def allow(self, token: str) -> int:
        """The HTTP status for a token."""
        if not token:
            return 401
        key = hashlib.sha256(token.encode()).hexdigest()
        known = self._answers.get(key)
        if known is not None and known[0] > self._clock():
            return known[1]
        try:
            status = await self._ask(token)
        except ApiError:
            return 503
        if len(self._answers) >= _MOST_REMEMBERED:
            self._answers.clear()
        self._answers[key] = (self._clock() + REMEMBERED_S, status)
        return status

    async def _ask(self, token: str) -> int:
        who = (await self._client.create(TOKEN_REVIEWS, token_review(token))).get("status", {})
        if not who.get("authenticated"):
            return 401
        question = access_review(who.get("user", {}))
        answer = await self._client.create(SUBJECT_ACCESS_REVIEWS, question)
        return 200 if answer.get("status", {}).get("allowed") else 403
