"""The dashboard of the hosts and GPUs that the jobs of a server run on."""

from typing import Final

from observability.jobs import BACKEND, OF_BACKEND
from observability.panel import Dashboard, Line, Row, Unit, graph, number, stacked
from observability.query import mean, most, series, total
from observability.queue import by_backend
from trainway.engine.statistics import table as server
from trainway.telemetry.metric import Metric


def _by_host(metric: Metric) -> Line:
    return Line(total(series(metric, **OF_BACKEND), "host"), "{{host}}")


def _by_gpu(metric: Metric) -> Line:
    query = most(series(metric, **OF_BACKEND), "host", "gpu")
    return Line(query, "{{host}} GPU {{gpu}}")


NODES: Final = Dashboard(
    "trainway-nodes",
    "Trainway / Nodes and GPUs",
    "What the hosts and GPUs do that the jobs of a server run on.",
    (BACKEND,),
    (
        Row(
            "Now",
            (
                number(
                    "GPUs held",
                    "GPUs that running jobs have requested.",
                    total(series(server.GPUS, **OF_BACKEND)),
                ),
                number(
                    "GPUs in use, on average",
                    "How busy the GPUs of running jobs are.",
                    mean(series(server.GPU_UTILIZATION, **OF_BACKEND)),
                    unit=Unit.RATIO,
                ),
                number(
                    "Power",
                    "Of all GPUs of running jobs.",
                    total(series(server.GPU_POWER, **OF_BACKEND)),
                    unit=Unit.WATTS,
                ),
                number(
                    "Hottest GPU",
                    "GPUs slow down from about 85 °C on.",
                    most(series(server.GPU_TEMPERATURE, **OF_BACKEND)),
                    unit=Unit.CELSIUS,
                    red_above=85,
                ),
                number(
                    "Jobs left out",
                    "Jobs that run and are not in these numbers, since there are too many.",
                    most(series(server.LEFT_OUT)),
                    red_above=1,
                ),
            ),
            height=4,
        ),
        Row(
            "Hosts",
            (
                stacked("CPU", "Cores that jobs use on each host.", _by_host(server.NODE_CPU)),
                stacked(
                    "Memory",
                    "Memory that jobs use on each host.",
                    _by_host(server.NODE_MEMORY),
                    unit=Unit.BYTES,
                ),
                stacked(
                    "CPUs requested",
                    "CPUs that running jobs have requested, whether they use them or not.",
                    by_backend(server.CPUS),
                ),
            ),
        ),
        Row(
            "GPUs",
            (
                graph(
                    "Utilization",
                    "A GPU that is held and does nothing is the alert TrainwayGpuIdle.",
                    _by_gpu(server.GPU_UTILIZATION),
                    unit=Unit.RATIO,
                ),
                graph("Memory", "In use.", _by_gpu(server.GPU_MEMORY), unit=Unit.BYTES),
                graph("Power", "As each GPU says.", _by_gpu(server.GPU_POWER), unit=Unit.WATTS),
                graph(
                    "Temperature",
                    "As each GPU says.",
                    _by_gpu(server.GPU_TEMPERATURE),
                    unit=Unit.CELSIUS,
                ),
            ),
        ),
    ),
)
