import asyncio

from aiohttp.test_utils import TestClient, TestServer

from trainway.operator.config import HealthConfig
from trainway.operator.health import health_app


def answers(config: HealthConfig, problem: str | None, path: str) -> tuple[int, str]:
    async def ask() -> tuple[int, str]:
        app = health_app(config, lambda: problem)
        async with TestClient(TestServer(app)) as client, client.get(path) as response:
            return response.status, await response.text()

    return asyncio.run(ask())


def test_liveness_always_answers() -> None:
    assert answers(HealthConfig(), "certificates are not ready", "/healthz") == (200, "ok")


def test_readiness_says_why_not() -> None:
    assert answers(HealthConfig(), None, "/readyz") == (200, "ok")
    not_ready = answers(HealthConfig(), "certificates are not ready", "/readyz")
    assert not_ready == (500, "certificates are not ready")


def test_the_endpoints_have_the_names_they_are_given() -> None:
    config = HealthConfig(readiness_name="ready", liveness_name="/alive")
    assert answers(config, None, "/ready") == (200, "ok")
    assert answers(config, None, "/alive") == (200, "ok")
    assert answers(config, None, "/readyz")[0] == 404
