"""Nodes that are set aside, and those that are let in again."""

from datetime import UTC, datetime, timedelta

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.backends.nodes import Drain, draining
from trainway.engine.jobs import Engine
from trainway.engine.times import time_text
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH

_DEFAULT = "somebody has set it aside"
_LONGEST = 366 * 86400
"""The most seconds that a node is set aside for; beyond them it is for somebody to end."""


class UndrainRequest(BaseModel):
    """Which node."""

    model_config = ConfigDict(extra="forbid")

    backend: str = Field(max_length=253)
    node: str = Field(min_length=1, max_length=253)


class DrainRequest(UndrainRequest):
    """Which node, and why."""

    why: str = Field("", max_length=1000, description="in a sentence, for whoever looks later")
    by: str = Field("", max_length=253, description="who wants it, for whoever looks later")
    seconds: float | None = Field(
        None, gt=0, le=_LONGEST, description="for how long; without it until somebody undrains it"
    )


class DrainAnswer(Shown):
    """What has become of the node."""

    backend: str
    node: str
    drained: str = Field(description="why it is set aside; empty: it takes pods")
    drained_until: str | None = Field(description="when it takes pods again by itself")


def add_drain_routes(api: Api, engine: Engine) -> None:
    """The routes that set nodes aside."""

    @api.post(f"{BASE_PATH}/backends/nodes/drain", tags=["server"], response_model=DrainAnswer)
    async def drain(body: DrainRequest) -> Response:
        """Let a node take no new pods; those that it has go on. It is stored when this answers."""
        backend = engine.registry.get(body.backend)
        why = " ".join(body.why.split()) or _DEFAULT
        until = body.seconds and datetime.now(UTC) + timedelta(seconds=body.seconds)
        wanted = Drain(why, " ".join(body.by.split()), until or None)
        await draining(backend).drain(body.node, wanted)
        return _answer(backend.name, body.node, wanted)

    @api.post(f"{BASE_PATH}/backends/nodes/undrain", tags=["server"], response_model=DrainAnswer)
    async def undrain(body: UndrainRequest) -> Response:
        """Let a node take pods again."""
        backend = engine.registry.get(body.backend)
        await draining(backend).undrain(body.node)
        return _answer(backend.name, body.node, Drain(""))


def _answer(backend: str, node: str, drain: Drain) -> Response:
    until = None if drain.until is None else time_text(drain.until)
    found = {"backend": backend, "node": node, "drained": drain.why, "drainedUntil": until}
    return JsonAnswer(found)
