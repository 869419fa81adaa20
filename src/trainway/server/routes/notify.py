"""Notifications: whether they arrive."""

from fastapi import FastAPI
from fastapi.responses import Response

from trainway.server import models
from trainway.server.json_answer import JsonAnswer
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service


def add_notify_routes(app: FastAPI, service: Service) -> None:
    """What can be tried out."""

    @app.post(f"{BASE_PATH}/notify/test", tags=["server"], response_model=models.NotifyResults)
    async def test(body: models.NotifyTest) -> Response:
        """Send a test to a target, or to all targets of the settings."""
        return JsonAnswer({"items": await service.engine.notifier.test(body.target)})
