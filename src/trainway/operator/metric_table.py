"""The metrics of the operator.

What controller-runtime or client-go have a name for has that name, and their labels and buckets, so
that dashboards made for other operators show this one too.
"""

from typing import Final

from trainway.telemetry.api_requests import API_REQUESTS
from trainway.telemetry.job_metrics import OPERATOR_JOBS
from trainway.telemetry.metric import LONG_S, Metric, counter, gauge, histogram

_RECONCILE_S: Final = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8),
    *(0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50),
    60,
)
_WORKQUEUE_S: Final = (1e-08, 1e-07, 1e-06, 1e-05, 0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1000)
_WEBHOOK_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_QUEUE: Final = ("name", "controller")

RECONCILES: Final = counter(
    "controller_runtime_reconcile_total",
    "Objects reconciled; the result is `success`, `requeue_after` (again later) or `error`",
    *("controller", "result"),
)
RECONCILE_ERRORS: Final = counter(
    "controller_runtime_reconcile_errors_total",
    "Objects that could not be reconciled, and are tried again",
    "controller",
)
RECONCILE_TIME: Final = histogram(
    "controller_runtime_reconcile_time_seconds",
    "Time to reconcile one object",
    "controller",
    buckets=_RECONCILE_S,
)
ACTIVE_WORKERS: Final = gauge(
    "controller_runtime_active_workers", "Objects being reconciled now", "controller"
)
WORKERS: Final = gauge(
    "controller_runtime_max_concurrent_reconciles",
    "Objects that are reconciled at the same time at most",
    "controller",
)
WEBHOOK_REQUESTS: Final = counter(
    "controller_runtime_webhook_requests_total",
    "Admission requests of the API server, by the HTTP status of the answer",
    *("webhook", "code"),
)
WEBHOOK_LATENCY: Final = histogram(
    "controller_runtime_webhook_latency_seconds",
    "Time to answer an admission request",
    "webhook",
    buckets=_WEBHOOK_S,
)
REVIEWS: Final = counter(
    "trainway_webhook_reviews_total",
    "Objects that were reviewed for the API server; `allowed` is true or false",
    *("kind", "allowed"),
)
CERTIFICATE_END: Final = gauge(
    "trainway_webhook_certificate_expiry_timestamp_seconds",
    "When the certificate of the webhooks ends, in seconds since 1970",
)
DEPTH: Final = gauge("workqueue_depth", "Objects that wait to be reconciled", *_QUEUE)
ADDS: Final = counter("workqueue_adds_total", "Objects put into the queue", *_QUEUE)
RETRIES: Final = counter(
    "workqueue_retries_total", "Objects put into the queue again after an error", *_QUEUE
)
QUEUE_TIME: Final = histogram(
    "workqueue_queue_duration_seconds",
    "Time that an object waits in the queue",
    *_QUEUE,
    buckets=_WORKQUEUE_S,
)
WORK_TIME: Final = histogram(
    "workqueue_work_duration_seconds",
    "Time to work on an object of the queue",
    *_QUEUE,
    buckets=_WORKQUEUE_S,
)
UNFINISHED: Final = gauge(
    "workqueue_unfinished_work_seconds",
    "Time spent so far on the objects that are worked on now, added up",
    *_QUEUE,
)
LONGEST: Final = gauge(
    "workqueue_longest_running_processor_seconds",
    "Time spent so far on the object that is worked on longest",
    *_QUEUE,
)
OLDEST: Final = gauge(
    "trainway_workqueue_oldest_seconds",
    "Waiting time of the object that has waited longest",
    "controller",
)
LEADER: Final = gauge(
    "leader_election_master_status",
    "1 if this replica holds the lease and runs the controllers, 0 if it waits",
    "name",
)
WATCH_AGE: Final = gauge(
    "trainway_watch_age_seconds",
    "Time since the last sign of life of a watch; the API server sends at least one a minute",
    "resource",
)
GANG_WAIT: Final = histogram(
    "trainway_gang_wait_seconds",
    "Time from the first pod of a gang that is active to the last that is ready",
    "kind",
    buckets=LONG_S,
)
MPI_CREATED: Final = counter("mpi_operator_jobs_created_total", "MPIJobs seen for the first time")
MPI_SUCCESSFUL: Final = counter("mpi_operator_jobs_successful_total", "MPIJobs that succeeded")
MPI_FAILED: Final = counter("mpi_operator_jobs_failed_total", "MPIJobs that failed")
MPI_INFO: Final = gauge(
    "mpi_operator_job_info",
    "1 for each MPIJob that exists, by the name of its launcher",
    *("launcher", "namespace"),
)
MPI_LEADER: Final = gauge("mpi_operator_is_leader", "1 if this replica runs the controllers")

CONTROLLER_METRICS: Final[tuple[Metric, ...]] = (
    *(RECONCILES, RECONCILE_ERRORS, RECONCILE_TIME, ACTIVE_WORKERS, WORKERS),
    *(DEPTH, ADDS, RETRIES, QUEUE_TIME, WORK_TIME, UNFINISHED, LONGEST, OLDEST),
    *(API_REQUESTS, WATCH_AGE, LEADER),
)
WEBHOOK_METRICS: Final[tuple[Metric, ...]] = (
    *(WEBHOOK_REQUESTS, WEBHOOK_LATENCY, REVIEWS, CERTIFICATE_END),
)
JOB_METRICS: Final[tuple[Metric, ...]] = (*OPERATOR_JOBS.all, GANG_WAIT)
MPI_METRICS: Final[tuple[Metric, ...]] = (
    *(MPI_CREATED, MPI_SUCCESSFUL, MPI_FAILED, MPI_INFO, MPI_LEADER),
)
