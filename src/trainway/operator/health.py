"""What the kubelet asks: whether the process lives, and whether requests should come to it.

Liveness always answers: a restart mends nothing that the operator cannot wait for. Readiness
follows a check, which gives the reason why not, or None.
"""

from collections.abc import Callable

from aiohttp import web

from trainway.operator.config import HealthConfig

Check = Callable[[], str | None]


def health_app(config: HealthConfig, ready: Check) -> web.Application:
    """The application with both endpoints, under their configured names."""

    async def live(_request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def readiness(_request: web.Request) -> web.Response:
        problem = ready()
        return (
            web.Response(text="ok") if problem is None else web.Response(status=500, text=problem)
        )

    app = web.Application()
    app.router.add_get("/" + config.liveness_name.strip("/"), live)
    app.router.add_get("/" + config.readiness_name.strip("/"), readiness)
    return app
