"""Nodes that are set aside, and those that are let in again."""

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.backends.nodes import draining
from trainway.engine.jobs import Engine
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH

_DEFAULT = "somebody has set it aside"


class UndrainRequest(BaseModel):
    """Which node."""

    model_config = ConfigDict(extra="forbid")

    backend: str = Field(max_length=253)
    node: str = Field(min_length=1, max_length=253)


class DrainRequest(UndrainRequest):
    """Which node, and why."""

    why: str = Field("", max_length=1000, description="in a sentence, for whoever looks later")


class DrainAnswer(Shown):
    """What has become of the node."""

    backend: str
    node: str
    drained: str = Field(description="why it is set aside; empty: it takes pods")


def add_drain_routes(api: Api, engine: Engine) -> None:
    """The routes that set nodes aside."""

    @api.post(f"{BASE_PATH}/backends/nodes/drain", tags=["server"], response_model=DrainAnswer)
    async def drain(body: DrainRequest) -> Response:
        """Let a node take no new pods; those that it has go on. It is stored when this answers."""
        backend = engine.registry.get(body.backend)
        why = " ".join(body.why.split()) or _DEFAULT
        await draining(backend).drain(body.node, why)
        return JsonAnswer({"backend": backend.name, "node": body.node, "drained": why})

    @api.post(f"{BASE_PATH}/backends/nodes/undrain", tags=["server"], response_model=DrainAnswer)
    async def undrain(body: UndrainRequest) -> Response:
        """Let a node take pods again."""
        backend = engine.registry.get(body.backend)
        await draining(backend).undrain(body.node)
        return JsonAnswer({"backend": backend.name, "node": body.node, "drained": ""})
