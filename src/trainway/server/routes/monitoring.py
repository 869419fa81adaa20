"""The page that Prometheus reads; over TCP it shows the token, as everybody does."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trainway.server.service import Service
from trainway.telemetry.api_requests import API_REQUESTS, request_samples
from trainway.telemetry.process import process_registry
from trainway.telemetry.registry import CONTENT_TYPE, Registry


def monitoring_route(service: Service) -> Route:
    """`/metrics`, which is no part of the API."""
    process = process_registry("server")
    asked = Registry((API_REQUESTS,))
    asked.collect(lambda: request_samples(service.engine.registry.api_requests()))

    async def metrics(_request: Request) -> Response:
        pages = (
            await service.engine.statistics.page(),
            service.requests.registry.page(),
            asked.page(),
            process.page(),
        )
        return Response("".join(pages), headers={"Content-Type": CONTENT_TYPE})

    return Route("/metrics", metrics, methods=["GET"])
