"""What server and operator both tell of jobs, so that one dashboard shows either.

Each adds the labels that it can tell jobs apart by: the server their backend, the operator their
namespace where that is worth a series.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trainway.telemetry.metric import LONG_S, Metric, counter, gauge, histogram


@dataclass(frozen=True)
class JobMetrics:
    """The metrics of jobs, with the labels of one program."""

    jobs: Metric
    created: Metric
    finished: Metric
    running: Metric
    restarts: Metric
    hangs: Metric
    gpu_seconds: Metric

    @property
    def all(self) -> tuple[Metric, ...]:
        """All of them."""
        return (
            self.jobs,
            self.created,
            self.finished,
            self.running,
            self.restarts,
            self.hangs,
            self.gpu_seconds,
        )


def job_metrics(place: Sequence[str], *, stored: Sequence[str], gpus: Sequence[str]) -> JobMetrics:
    """The metrics of jobs, with further labels: of all, of those stored, of their GPUs."""
    return JobMetrics(
        gauge("trainway_jobs", "Jobs that exist, by phase", *stored, "phase"),
        counter("trainway_jobs_created_total", "Jobs seen for the first time", *place, "kind"),
        counter(
            "trainway_jobs_finished_total",
            "Jobs that ended, by the phase in which they did",
            *(*place, "kind", "phase"),
        ),
        histogram(
            "trainway_job_time_to_running_seconds",
            "Time from the creation of a job until it runs",
            *(*place, "kind"),
            buckets=LONG_S,
        ),
        counter(
            "trainway_job_restarts_total",
            "Restarts of all nodes of a job, by what made them necessary",
            *(*place, "kind", "cause"),
        ),
        counter(
            "trainway_job_hangs_total",
            "Jobs that stopped reporting progress",
            *(*place, "kind"),
        ),
        counter(
            "trainway_gpu_seconds_total",
            "Seconds that running jobs held GPUs, multiplied by the number of GPUs",
            *gpus,
        ),
    )


OPERATOR_JOBS: Final = job_metrics((), stored=("kind",), gpus=("kind", "namespace"))
SERVER_JOBS: Final = job_metrics(("backend",), stored=(), gpus=("backend",))
