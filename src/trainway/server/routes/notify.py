"""Notifications: who is told of what, and whether they arrive."""

import asyncio

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.server import models
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service


class NotifyTest(BaseModel):
    """Whom to send a test."""

    model_config = ConfigDict(extra="forbid")

    target: str = Field("", max_length=2100, description="a name or a URL; empty: all targets")


class NotifyResult(models.Shown):
    """What became of a test."""

    target: str
    ok: bool
    detail: str


class NotifyResults(models.Shown):
    """What became of the test of each target."""

    items: list[NotifyResult]


class NotifyTarget(models.Shown):
    """Somebody who is told how jobs go."""

    name: str
    format: str
    events: list[str] = Field(description="what they hear of")


class NotifyTargets(models.Shown):
    """The targets of the settings, without their URLs, which are secrets."""

    items: list[NotifyTarget]


def add_notify_routes(api: Api, service: Service) -> None:
    """What is set, and what can be tried out."""

    @api.get(f"{BASE_PATH}/notify", tags=["server"], response_model=NotifyTargets)
    async def targets() -> Response:
        """Who is told how jobs go, as the section `notify` of config.yaml says."""
        return JsonAnswer({"items": await asyncio.to_thread(service.engine.notifier.targets)})

    @api.post(f"{BASE_PATH}/notify/test", tags=["server"], response_model=NotifyResults)
    async def test(body: NotifyTest) -> Response:
        """Send a test to a target, or to all targets of the settings."""
        return JsonAnswer({"items": await service.engine.notifier.test(body.target)})
