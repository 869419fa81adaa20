"""The metrics of an operator to which everything has happened that is counted."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from trainway.operator.metrics import Metrics, RestartCause

END: Final = datetime(2027, 1, 1, tzinfo=UTC)
"""When the certificate ends."""


@dataclass
class FixedQueue:
    """The queue of a controller, which stays as it is."""

    adds: int = 5
    retries: int = 2
    depth: int = 3

    def oldest_age(self) -> float:
        """Of what waits."""
        return 0.5

    def ages_of_work(self) -> list[float]:
        """Of what is worked on."""
        return [1.0, 4.0]


def played_metrics() -> Metrics:
    """All metrics with a value."""
    metrics = Metrics()
    for kind in ("TrainJob", "MPIJob"):
        metrics.job_created(kind)
        metrics.job_finished(kind, "Failed")
        metrics.job_running(kind, 3)
        metrics.gang_wait(kind, 2)
        metrics.restart(kind, RestartCause.FAILURE)
        metrics.gpu_seconds(kind, "team", 12)
        metrics.hang(kind)
    metrics.job_finished("MPIJob", "Succeeded")
    metrics.mpi_job_info("pi-launcher", "team")
    metrics.webhook_answered("/validate", 200, 0.01)
    metrics.reviewed("TrainJob", allowed=True)
    metrics.on_start("trainjob")
    metrics.on_end("trainjob", 0.02, "error")
    metrics.on_taken("trainjob", 0.3)
    metrics.leader("lease", is_leader=True)
    metrics.show_queue("trainjob", FixedQueue(), workers=4)
    metrics.show_watch("jobsets", lambda: 7)
    metrics.show_jobs("TrainJob", lambda: {"Pending": 3, "Running": 2, "Failed": 1})
    metrics.show_requests("https://k", {("GET", "200"): 3})
    metrics.show_requests("https://k", {("GET", "200"): 4, ("POST", "<error>"): 1})
    metrics.show_certificate(lambda: END)
    return metrics
