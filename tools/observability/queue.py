"""The dashboard of what waits: in the queue of a server, and in clusters."""

from typing import Final

from observability.jobs import BACKEND, CHOSEN, IN_CLUSTERS, OF_BACKEND, RUNNING, SOURCE, quantiles
from observability.panel import Dashboard, Line, Row, Unit, bars, graph, stacked
from observability.query import most, quantile, series, total
from trainway.engine.phases import Phase
from trainway.engine.statistics import table as server
from trainway.operator import metric_table as operator
from trainway.telemetry.job_metrics import OPERATOR_JOBS
from trainway.telemetry.metric import Metric

_WAITING: Final = f"=~{'|'.join((Phase.PENDING, *IN_CLUSTERS))}"


def by_backend(metric: Metric) -> Line:
    """The sum for each backend."""
    return Line(total(series(metric, **OF_BACKEND), "backend"), "{{backend}}")


QUEUE: Final = Dashboard(
    "trainway-queue",
    "Trainway / Queue",
    "Which jobs wait, for how long, and what is held meanwhile.",
    (BACKEND, SOURCE),
    (
        Row(
            "Now",
            (
                bars(
                    "Jobs that wait",
                    "By backend. `trainway jobs show` says why a job waits.",
                    by_backend(server.QUEUE_LENGTH),
                ),
                bars(
                    "The oldest waits for",
                    "Time since its creation. A job that asks for more than there ever is free "
                    "holds up those behind it.",
                    Line(most(series(server.QUEUE_OLDEST, **OF_BACKEND), "backend"), "{{backend}}"),
                    unit=Unit.SECONDS,
                ),
                bars(
                    "GPUs held",
                    "GPUs that running jobs have requested.",
                    by_backend(server.GPUS),
                ),
                bars(
                    "CPUs held",
                    "CPUs that running jobs have requested.",
                    by_backend(server.CPUS),
                ),
            ),
            height=6,
        ),
        Row(
            "Over time",
            (
                stacked(
                    "Length of the queue",
                    "If it only grows, more is asked for than there is.",
                    by_backend(server.QUEUE_LENGTH),
                ),
                graph(
                    "Time in the queue",
                    "Of the jobs that began to run.",
                    *quantiles(server.QUEUE_WAIT, **OF_BACKEND),
                    unit=Unit.SECONDS,
                ),
                graph(
                    "GPUs held",
                    "GPUs that running jobs have requested. Free GPUs beside a queue: the first "
                    "job in it is too large, or waits for one host.",
                    by_backend(server.GPUS),
                ),
            ),
        ),
        Row(
            "In clusters",
            (
                graph(
                    "Time to running, by kind",
                    "From the creation of a TrainJob or MPIJob until all its pods are ready.",
                    Line(quantile(0.9, RUNNING, "kind", **CHOSEN), "{{kind}} p90"),
                    unit=Unit.SECONDS,
                ),
                graph(
                    "Wait of gangs",
                    "From the first pod of a gang to the last. GPUs are held and idle meanwhile: "
                    "use gang scheduling or Kueue if this is long.",
                    Line(quantile(0.9, operator.GANG_WAIT, "kind"), "{{kind}} p90"),
                    unit=Unit.SECONDS,
                ),
                stacked(
                    "Jobs suspended or pending",
                    "TrainJobs and MPIJobs that wait for Kueue, for their owner or for pods.",
                    Line(
                        total(
                            series(OPERATOR_JOBS.jobs, kind="!=", phase=_WAITING),
                            "kind",
                            "phase",
                        ),
                        "{{kind}} {{phase}}",
                    ),
                ),
            ),
        ),
    ),
)
