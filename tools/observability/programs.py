"""Dashboards of our own programs: whether the operator and the server do their work."""

from typing import Final

from observability.jobs import quantiles
from observability.panel import Dashboard, Line, Panel, Row, Unit, Variable, graph, number, table
from observability.query import (
    NOW,
    Query,
    count,
    least,
    most,
    over_time,
    quantile,
    rate,
    series,
    total,
)
from trainway.operator import metric_table as operator
from trainway.server import request_statistics as requests
from trainway.telemetry import process
from trainway.telemetry.api_requests import API_REQUESTS

HERE: Final = {"job": "=~$source"}
DAY_S: Final = 86_400.0


def _source(component: str) -> Variable:
    return Variable(
        "source", "Source", series(process.BUILD_INFO, component=f"={component}"), "job"
    )


def _process_row() -> Row:
    return Row(
        "Process",
        (
            graph(
                "Processor",
                "Cores in use. One core is all that one process can use.",
                Line(rate(process.CPU, **HERE), "{{instance}}"),
            ),
            graph(
                "Memory",
                "Resident memory. A limit that it comes near to ends the process.",
                Line(series(process.MEMORY, **HERE), "{{instance}}"),
                unit=Unit.BYTES,
            ),
            graph(
                "Open files",
                "As a share of what the system allows.",
                Line(
                    series(process.OPEN_FILES, **HERE) / series(process.MOST_FILES, **HERE),
                    "{{instance}}",
                ),
                unit=Unit.RATIO,
            ),
            graph(
                "Runs for",
                "A line that falls to 0 is a process that was started again.",
                Line(NOW - series(process.START, **HERE), "{{instance}}"),
                unit=Unit.SECONDS,
            ),
        ),
    )


def _versions(component: str) -> Panel:
    query = series(process.BUILD_INFO, component=f"={component}", **HERE)
    what = "Two versions for longer than an upgrade takes: a pod is left behind."
    return table("Version", what, count(query, "instance", "version", "python_version"), width=8)


def _by_controller(query: Query) -> Line:
    return Line(total(query, "controller"), "{{controller}}")


_OPERATOR: Final = Dashboard(
    "trainway-operator",
    "Trainway / Operator",
    "Whether the operator keeps up with the cluster, and its webhooks with the API server.",
    (_source("operator"),),
    (
        Row(
            "Now",
            (
                _versions("operator"),
                number(
                    "Leaders",
                    "1, or nothing happens to jobs.",
                    total(series(operator.LEADER, **HERE)),
                    red_below=1,
                ),
                number(
                    "The oldest waits for",
                    "Of the objects in the queues. More than a few seconds: it is behind.",
                    most(series(operator.OLDEST, **HERE)),
                    unit=Unit.SECONDS,
                    red_above=30,
                ),
                number(
                    "The quietest watch",
                    "Time since the last sign of life; the API server sends at least one a minute.",
                    most(series(operator.WATCH_AGE, **HERE)),
                    unit=Unit.SECONDS,
                    red_above=180,
                ),
                number(
                    "Certificate ends in",
                    "The operator renews its own 120 days before the end.",
                    (least(series(operator.CERTIFICATE_END, **HERE)) - NOW) / DAY_S,
                    unit=Unit.DAYS,
                    red_below=14,
                ),
            ),
            height=5,
        ),
        Row(
            "Controllers",
            (
                graph(
                    "Reconciles by result",
                    "Objects that the controllers looked at, a second.",
                    Line(total(rate(operator.RECONCILES, **HERE), "result"), "{{result}}"),
                    unit=Unit.PER_SECOND,
                ),
                graph(
                    "Errors",
                    "Objects that are tried again. The log says which, and why.",
                    _by_controller(rate(operator.RECONCILE_ERRORS, **HERE)),
                    unit=Unit.PER_SECOND,
                ),
                graph(
                    "Time to reconcile, p99",
                    "By controller.",
                    Line(
                        quantile(0.99, operator.RECONCILE_TIME, "controller", **HERE),
                        "{{controller}}",
                    ),
                    unit=Unit.SECONDS,
                ),
                graph(
                    "Workers in use",
                    "As a share of those there are. At 100 % the queue grows: raise "
                    "groupKindConcurrency.",
                    Line(
                        total(series(operator.ACTIVE_WORKERS, **HERE), "controller")
                        / total(series(operator.WORKERS, **HERE), "controller"),
                        "{{controller}}",
                    ),
                    unit=Unit.RATIO,
                ),
            ),
        ),
        Row(
            "Queues",
            (
                graph(
                    "Length",
                    "Objects that wait to be reconciled.",
                    _by_controller(series(operator.DEPTH, **HERE)),
                ),
                graph(
                    "Added and tried again",
                    "Objects a second.",
                    Line(total(rate(operator.ADDS, **HERE), "controller"), "{{controller}} added"),
                    Line(
                        total(rate(operator.RETRIES, **HERE), "controller"),
                        "{{controller}} again",
                    ),
                    unit=Unit.PER_SECOND,
                ),
                graph(
                    "Time in the queue, p99",
                    "By controller.",
                    Line(
                        quantile(0.99, operator.QUEUE_TIME, "controller", **HERE),
                        "{{controller}}",
                    ),
                    unit=Unit.SECONDS,
                ),
                graph(
                    "The longest at work",
                    "Time spent so far on the object that is worked on longest. A line that only "
                    "grows is a controller that hangs.",
                    Line(most(series(operator.LONGEST, **HERE), "controller"), "{{controller}}"),
                    unit=Unit.SECONDS,
                ),
            ),
        ),
        Row(
            "API server",
            (
                graph(
                    "Requests by answer",
                    "429: the API server holds the operator back. `<error>`: there was no answer.",
                    Line(total(rate(API_REQUESTS, **HERE), "code"), "{{code}}"),
                    unit=Unit.REQUESTS,
                ),
                graph(
                    "Requests by verb",
                    "What the operator asks for.",
                    Line(total(rate(API_REQUESTS, **HERE), "method"), "{{method}}"),
                    unit=Unit.REQUESTS,
                ),
                graph(
                    "Age of watches",
                    "Time since the last sign of life of each watch.",
                    Line(most(series(operator.WATCH_AGE, **HERE), "resource"), "{{resource}}"),
                    unit=Unit.SECONDS,
                ),
            ),
        ),
        Row(
            "Webhooks",
            (
                graph(
                    "Requests by answer",
                    "The API server asks before it stores a job. Anything but 200 is a defect.",
                    Line(total(rate(operator.WEBHOOK_REQUESTS, **HERE), "code"), "{{code}}"),
                    unit=Unit.REQUESTS,
                ),
                graph(
                    "Time to answer, p99",
                    "By webhook. The API server waits 10 s at most, then it refuses the job.",
                    Line(
                        quantile(0.99, operator.WEBHOOK_LATENCY, "webhook", **HERE),
                        "{{webhook}}",
                    ),
                    unit=Unit.SECONDS,
                ),
                graph(
                    "Objects reviewed",
                    "By kind, and whether they were allowed.",
                    Line(
                        total(rate(operator.REVIEWS, **HERE), "kind", "allowed"),
                        "{{kind}} allowed={{allowed}}",
                    ),
                    unit=Unit.REQUESTS,
                ),
            ),
        ),
        _process_row(),
    ),
)

_SERVER: Final = Dashboard(
    "trainway-server",
    "Trainway / Server",
    "Whether the server answers, how fast, and what it needs for that.",
    (_source("server"),),
    (
        Row(
            "Now",
            (
                _versions("server"),
                number(
                    "Requests",
                    "Answers a second.",
                    total(rate(requests.REQUESTS, **HERE)),
                    unit=Unit.REQUESTS,
                ),
                number(
                    "Memory, most in an hour",
                    "Resident memory.",
                    most(over_time("max", series(process.MEMORY, **HERE), "1h")),
                    unit=Unit.BYTES,
                ),
            ),
            height=5,
        ),
        Row(
            "Requests",
            (
                graph(
                    "By answer",
                    "5xx is a defect or a full disk: the server's log says which.",
                    Line(total(rate(requests.REQUESTS, **HERE), "code"), "{{code}}"),
                    unit=Unit.REQUESTS,
                ),
                graph(
                    "By method",
                    "Requests a second.",
                    Line(total(rate(requests.REQUESTS, **HERE), "method"), "{{method}}"),
                    unit=Unit.REQUESTS,
                ),
                graph(
                    "Time until an answer begins",
                    "Of all requests, streams included.",
                    *quantiles(requests.LATENCY, **HERE),
                    unit=Unit.SECONDS,
                ),
            ),
        ),
        _process_row(),
    ),
)

PROGRAM_DASHBOARDS: Final = (_OPERATOR, _SERVER)
