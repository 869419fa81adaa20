"""The HTTP API as one FastAPI application."""

from functools import cache
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import APIRoute

from trainway import __version__
from trainway.server.described_route import BareRoute
from trainway.server.errors import add_handlers
from trainway.server.json_body import StrictRoute
from trainway.server.models import ErrorAnswer
from trainway.server.paths import BASE_PATH
from trainway.server.report_intake import ReportIntake
from trainway.server.routes.about import add_about_routes, add_backend_routes
from trainway.server.routes.clusters import add_cluster_routes
from trainway.server.routes.dashboard import add_dashboard_routes
from trainway.server.routes.docs import add_docs_route
from trainway.server.routes.drafts import add_draft_routes
from trainway.server.routes.files import add_file_routes
from trainway.server.routes.jobs import add_action_routes, add_job_routes, add_report_routes
from trainway.server.routes.log_windows import add_log_window_routes
from trainway.server.routes.metrics import add_metric_routes
from trainway.server.routes.notify import add_notify_routes
from trainway.server.routes.offers import add_offer_routes
from trainway.server.routes.outputs import add_output_routes
from trainway.server.routes.pods import add_pod_routes
from trainway.server.routes.remarks import add_remark_routes
from trainway.server.routes.reruns import add_rerun_routes
from trainway.server.routes.results import add_result_routes
from trainway.server.routes.runs import add_run_routes
from trainway.server.routes.stacks import add_stack_routes
from trainway.server.routes.streams import add_stream_routes
from trainway.server.service import Service
from trainway.server.web.routes import dashboard_routes

_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    "default": {"model": ErrorAnswer, "description": "an error"}
}


def create_app(service: Service) -> FastAPI:
    """All routes below /api/v1, and their description at /api/v1/openapi.json."""
    app = _app(service, BareRoute)
    app.openapi = cache(lambda: _app(service, StrictRoute).openapi())  # type: ignore[method-assign]  # as FastAPI says
    return app


def _app(service: Service, route_class: type[APIRoute]) -> FastAPI:
    app = FastAPI(
        title="Trainway",
        version=__version__,
        summary="Write a training job once, run it anywhere.",
        openapi_url=f"{BASE_PATH}/openapi.json",
        docs_url=None,  # it would load its parts from elsewhere; `add_docs_route` has one
        redoc_url=None,
        responses=_ERRORS,
    )
    app.router.route_class = route_class
    # Straight to the app: a router in between would have every route made twice, at each start.
    add_job_routes(app, service)
    add_action_routes(app, service.engine)
    add_rerun_routes(app, service.engine)
    add_remark_routes(app, service.engine)
    add_draft_routes(app, service)
    add_report_routes(app, service)
    add_metric_routes(app, service)
    add_result_routes(app, service)
    add_output_routes(app, service)
    add_log_window_routes(app, service)
    add_pod_routes(app, service)
    add_stream_routes(app, service)
    add_run_routes(app, service.engine)
    add_cluster_routes(app, service)
    add_file_routes(app, service.files)
    add_about_routes(app, service)
    add_backend_routes(app, service)
    add_offer_routes(app, service.engine)
    add_notify_routes(app, service)
    add_stack_routes(app, service)
    add_dashboard_routes(app, service)
    add_docs_route(app)
    app.router.routes.extend(dashboard_routes(service.web, service.info.version))
    add_handlers(app)
    app.add_middleware(ReportIntake, engine=service.engine)
    return app
