"""The HTTP API as one application."""

from starlette.applications import Starlette
from starlette.middleware import Middleware

from trainway.server.api import Api
from trainway.server.bound_route import BoundRoute
from trainway.server.errors import HANDLERS
from trainway.server.report_intake import ReportIntake
from trainway.server.routes.about import add_about_routes, add_backend_routes
from trainway.server.routes.budgets import add_budget_routes
from trainway.server.routes.caches import add_cache_routes
from trainway.server.routes.clouds import add_cloud_routes
from trainway.server.routes.clusters import add_cluster_routes
from trainway.server.routes.dashboard import add_dashboard_routes
from trainway.server.routes.docs import Description, add_docs_route, description_route
from trainway.server.routes.drafts import add_draft_routes
from trainway.server.routes.drains import add_drain_routes
from trainway.server.routes.files import add_file_routes
from trainway.server.routes.finetunes import add_finetune_routes
from trainway.server.routes.infra import add_infra_routes
from trainway.server.routes.job_placement import add_job_placement_routes
from trainway.server.routes.jobs import add_action_routes, add_job_routes, add_report_routes
from trainway.server.routes.log_windows import add_log_window_routes
from trainway.server.routes.managed_queues import add_managed_queue_routes
from trainway.server.routes.metrics import add_metric_routes
from trainway.server.routes.monitoring import monitoring_route
from trainway.server.routes.moves import add_move_routes
from trainway.server.routes.notify import add_notify_routes
from trainway.server.routes.offers import add_offer_routes
from trainway.server.routes.outputs import add_output_routes
from trainway.server.routes.overview import add_overview_routes
from trainway.server.routes.placements import add_placement_routes
from trainway.server.routes.pods import add_pod_routes
from trainway.server.routes.prices import add_price_routes
from trainway.server.routes.queues import add_queue_routes
from trainway.server.routes.remarks import add_remark_routes
from trainway.server.routes.reruns import add_rerun_routes
from trainway.server.routes.results import add_result_routes
from trainway.server.routes.runs import add_run_routes
from trainway.server.routes.schedules import add_schedule_routes
from trainway.server.routes.stacks import add_stack_routes
from trainway.server.routes.storage import add_storage_routes
from trainway.server.routes.streams import add_stream_routes
from trainway.server.routes.worker_pools import add_worker_pool_routes
from trainway.server.service import Service
from trainway.server.web.events import events_route
from trainway.server.web.routes import dashboard_routes


def create_app(service: Service) -> Starlette:
    """All routes below /api/v1, and their description at /api/v1/openapi.json."""
    api = declared_api(service)
    description = Description(api)
    add_docs_route(api, description)
    routes = [BoundRoute(declaration) for declaration in api.declarations]
    return Starlette(
        routes=[
            description_route(description),
            *routes,
            events_route(service),
            monitoring_route(service),
            *dashboard_routes(service.web, service.info.version),
        ],
        exception_handlers=HANDLERS,
        middleware=[Middleware(ReportIntake, engine=service.engine)],
    )


def declared_api(service: Service) -> Api:
    """All routes that are described."""
    api = Api()
    add_job_routes(api, service)
    add_action_routes(api, service.engine)
    add_rerun_routes(api, service.engine)
    add_move_routes(api, service.engine)
    add_remark_routes(api, service.engine)
    add_draft_routes(api, service)
    add_report_routes(api, service)
    add_metric_routes(api, service)
    add_result_routes(api, service)
    add_output_routes(api, service)
    add_log_window_routes(api, service)
    add_pod_routes(api, service)
    add_stream_routes(api, service)
    add_run_routes(api, service.engine)
    add_schedule_routes(api, service.engine)
    add_storage_routes(api, service.engine)
    add_cache_routes(api, service.engine)
    add_finetune_routes(api, service.engine)
    add_overview_routes(api, service.engine)
    add_cluster_routes(api, service)
    add_cloud_routes(api, service.engine)
    add_worker_pool_routes(api, service.engine)
    add_file_routes(api, service.files)
    add_about_routes(api, service)
    add_backend_routes(api, service)
    add_offer_routes(api, service.engine)
    add_infra_routes(api, service.engine)
    add_drain_routes(api, service.engine)
    add_placement_routes(api, service)
    add_job_placement_routes(api, service)
    add_queue_routes(api, service.engine)
    add_managed_queue_routes(api, service.engine)
    add_notify_routes(api, service)
    add_budget_routes(api, service.engine)
    add_price_routes(api, service)
    add_stack_routes(api, service)
    add_dashboard_routes(api, service)
    return api
