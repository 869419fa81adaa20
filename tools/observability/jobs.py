"""Dashboards of jobs: all of them, filled by server and operator alike, and one of a server."""

from dataclasses import replace
from typing import Final

from observability.panel import (
    Dashboard,
    Line,
    Row,
    Unit,
    Variable,
    graph,
    number,
    stacked,
    table,
)
from observability.query import NOW, Query, increase, most, quantile, rate, series, total
from trainway.engine.phases import LIVE, WAITING, Phase
from trainway.engine.statistics import table as server
from trainway.telemetry.job_metrics import OPERATOR_JOBS, SERVER_JOBS
from trainway.telemetry.metric import Metric
from trainway.telemetry.process import BUILD_INFO

CHOSEN: Final = {"job": "=~$source"}
OF_JOB: Final = {"job_id": "=$job_id"}
OF_BACKEND: Final = {"backend": "=~$backend"}
SOURCE: Final = Variable("source", "Source", series(BUILD_INFO), "job")
BACKEND: Final = Variable("backend", "Backend", series(server.JOB_INFO), "backend")
IN_CLUSTERS: Final = ("Suspended", "Created")
"""What a job in a cluster is called that waits."""
SECONDS_OF_HOUR: Final = 3600.0
_RANGE: Final = "$__range"
_SHARES: Final = (0.5, 0.9, 0.99)


def both(mine: Metric, other: Metric) -> Metric:
    """A metric that server and operator have, with the labels of both."""
    if mine.name != other.name:
        raise ValueError(f"{mine.name} and {other.name} are two metrics")
    labels = dict.fromkeys((*mine.labels, *other.labels))
    return replace(mine, labels=tuple(labels))


JOBS: Final = both(SERVER_JOBS.jobs, OPERATOR_JOBS.jobs)
CREATED: Final = both(SERVER_JOBS.created, OPERATOR_JOBS.created)
FINISHED: Final = both(SERVER_JOBS.finished, OPERATOR_JOBS.finished)
RUNNING: Final = both(SERVER_JOBS.running, OPERATOR_JOBS.running)
RESTARTS: Final = both(SERVER_JOBS.restarts, OPERATOR_JOBS.restarts)
HANGS: Final = both(SERVER_JOBS.hangs, OPERATOR_JOBS.hangs)
GPU_SECONDS: Final = both(SERVER_JOBS.gpu_seconds, OPERATOR_JOBS.gpu_seconds)


def quantiles(metric: Metric, **matchers: str) -> tuple[Line, ...]:
    """The median, and what one in ten and one in a hundred exceed."""
    return tuple(
        Line(quantile(share, metric, **matchers), f"p{share * 100:g}") for share in _SHARES
    )


def _in_phases(*phases: str) -> Query:
    return total(series(JOBS, phase=f"=~{'|'.join(phases)}", **CHOSEN))


_JOBS: Final = Dashboard(
    "trainway-jobs",
    "Trainway / Jobs",
    "How many jobs there are, how they go, how fast they start and what they use.",
    (SOURCE,),
    (
        Row(
            "Now",
            (
                number(
                    "Running",
                    "Jobs whose nodes have started or are about to.",
                    _in_phases(*sorted(LIVE)),
                ),
                number(
                    "Waiting",
                    "Jobs that wait for room, for another job or for their owner. The dashboard "
                    "Queue says where.",
                    _in_phases(*sorted(WAITING), Phase.PAUSED, *IN_CLUSTERS),
                ),
                number(
                    "Failed in this time",
                    "Jobs that failed in the time that is shown.",
                    total(increase(FINISHED, _RANGE, phase=f"={Phase.FAILED}", **CHOSEN)),
                ),
                number(
                    "Restarts in this time",
                    "Restarts of all jobs in the time that is shown.",
                    total(increase(RESTARTS, _RANGE, **CHOSEN)),
                ),
                number(
                    "GPU-hours in this time",
                    "GPUs that running jobs held in the time that is shown, times hours.",
                    total(increase(GPU_SECONDS, _RANGE, **CHOSEN)) / SECONDS_OF_HOUR,
                ),
            ),
            height=4,
        ),
        Row(
            "Phases",
            (
                stacked(
                    "Jobs by phase",
                    "All jobs that the server or the operator knows.",
                    Line(total(series(JOBS, **CHOSEN), "phase"), "{{phase}}"),
                ),
                graph(
                    "Jobs created",
                    "New jobs a second, by kind.",
                    Line(total(rate(CREATED, **CHOSEN), "kind"), "{{kind}}"),
                    unit=Unit.PER_SECOND,
                ),
                graph(
                    "Jobs that ended",
                    "Jobs a second, by the phase in which they ended.",
                    Line(total(rate(FINISHED, **CHOSEN), "phase"), "{{phase}}"),
                    unit=Unit.PER_SECOND,
                ),
            ),
        ),
        Row(
            "How they go",
            (
                graph(
                    "Time to running",
                    "From the creation of a job until it runs; it includes the time in the queue.",
                    *quantiles(RUNNING, **CHOSEN),
                    unit=Unit.SECONDS,
                ),
                graph(
                    "Restarts by cause",
                    "A cause that grows for many jobs at once is that of a machine: look for "
                    "`node_lost` and `out_of_memory`.",
                    Line(total(rate(RESTARTS, **CHOSEN), "cause"), "{{cause}}"),
                    unit=Unit.PER_SECOND,
                ),
                graph(
                    "Hangs",
                    "Jobs that stopped reporting progress; `trainway jobs stacks` says where.",
                    Line(total(rate(HANGS, **CHOSEN), "kind"), "{{kind}}"),
                    unit=Unit.PER_SECOND,
                ),
                graph(
                    "GPUs held",
                    "On average, by backend of the server or namespace of the cluster.",
                    Line(
                        total(rate(GPU_SECONDS, **CHOSEN), "backend", "namespace"),
                        "{{backend}}{{namespace}}",
                    ),
                ),
            ),
        ),
    ),
)


def _of_node(title: str, what: str, metric: Metric, unit: Unit) -> Row:
    by = ("node", "gpu") if "gpu" in metric.labels else ("node",)
    legend = "{{node}} GPU {{gpu}}" if "gpu" in metric.labels else "{{node}}"
    line = Line(most(series(metric, **OF_JOB), *by), legend)
    return Row("", (graph(title, what, line, unit=unit),))


def _usage(title: str, *metrics: tuple[str, str, Metric, Unit]) -> Row:
    panels = [panel for each in metrics for panel in _of_node(*each).panels]
    return Row(title, panels)


_ONE_JOB: Final = Dashboard(
    "trainway-job",
    "Trainway / One job",
    "A job of a server while it runs: how far it is, and what its nodes and GPUs do.",
    (
        Variable("name", "Job", series(server.JOB_INFO), "name"),
        Variable("job_id", "Id", series(server.JOB_INFO, name="=~$name"), "job_id", False),
    ),
    (
        Row(
            "The job",
            (
                table(
                    "About",
                    "Only jobs that run are here. `trainway jobs show` has those that ended.",
                    series(server.JOB_INFO, **OF_JOB),
                    width=8,
                ),
                number(
                    "Runs for",
                    "Time since it began to run.",
                    NOW - series(server.JOB_START, **OF_JOB),
                    unit=Unit.SECONDS,
                ),
                number(
                    "Done",
                    "As the job reports it; nothing where it does not.",
                    series(server.JOB_PROGRESS, **OF_JOB),
                    unit=Unit.RATIO,
                ),
                number(
                    "Time left",
                    "As the job estimates it; nothing where it does not.",
                    series(server.JOB_REMAINING, **OF_JOB),
                    unit=Unit.SECONDS,
                ),
                number(
                    "Restarts",
                    "So far; `trainway jobs show` says why each attempt ended.",
                    series(server.JOB_RESTARTS, **OF_JOB),
                    red_above=1,
                ),
            ),
            height=5,
        ),
        _usage(
            "Nodes",
            (
                "CPU",
                "Cores in use. A node that uses much less than the others waits or hangs.",
                server.NODE_CPU,
                Unit.NONE,
            ),
            (
                "Memory",
                "Memory in use. A line that only grows ends with out_of_memory.",
                server.NODE_MEMORY,
                Unit.BYTES,
            ),
        ),
        _usage(
            "GPUs",
            (
                "Utilization",
                "How busy each GPU is. Low on all: the input is too slow. Low on one: it waits.",
                server.GPU_UTILIZATION,
                Unit.RATIO,
            ),
            ("Memory", "Memory in use on each GPU.", server.GPU_MEMORY, Unit.BYTES),
            ("Power", "Power that each GPU draws.", server.GPU_POWER, Unit.WATTS),
            (
                "Temperature",
                "A GPU that is too hot slows down, and the whole job with it.",
                server.GPU_TEMPERATURE,
                Unit.CELSIUS,
            ),
        ),
    ),
)

JOB_DASHBOARDS: Final = (_JOBS, _ONE_JOB)
