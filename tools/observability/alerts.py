"""The alert rules: what somebody should be woken for, or look at in the morning. Pure.

Names of controller-runtime are not ours alone: other operators have them too. So whatever reads one
is joined with `trainway_build_info`, which only our programs have.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from observability.jobs import FINISHED, HANGS, RESTARTS
from observability.query import (
    NOW,
    UP,
    Query,
    changes,
    increase,
    most,
    over_time,
    quantile,
    rate,
    series,
    total,
)
from trainway.engine.phases import Phase
from trainway.engine.statistics import table as server
from trainway.json_types import Json
from trainway.operator import metric_table as operator
from trainway.server import request_statistics as requests
from trainway.telemetry import process
from trainway.telemetry.api_requests import API_REQUESTS

PAGE: Final = "docs/monitoring.md"
"""Where each alert has a section; `prometheusRule.runbookBase` of the chart goes in front."""
DAY_S: Final = 86_400.0
HOUR_S: Final = 3600.0
_TARGET: Final = ("job", "instance")
_NO_ANSWER: Final = "=~5..|429|<error>"


class Severity(StrEnum):
    """Who should look, and when."""

    CRITICAL = "critical"
    """Somebody, now: jobs are not run or not taken."""
    WARNING = "warning"
    """Somebody, today."""


@dataclass(frozen=True)
class Alert:
    """One rule. The texts may have Prometheus' `{{ $labels.x }}` and `{{ $value }}`."""

    name: str
    query: Query
    minutes: int
    """How long it must hold."""
    severity: Severity
    summary: str
    description: str
    """What it means, and what to do."""

    @property
    def runbook(self) -> str:
        """The section of the documentation."""
        return f"{PAGE}#{self.name.lower()}"


def _ours(query: Query, component: str) -> Query:
    mine = series(process.BUILD_INFO, component=f"={component}")
    return query.where(mine, *_TARGET)


def _share(part: Query, all_: Query) -> Query:
    return part / all_


_CRITICAL, _WARNING = Severity.CRITICAL, Severity.WARNING
_REPORTED: Final = most(over_time("last", series(process.BUILD_INFO), "1d"), *_TARGET, "component")

PROGRAM_ALERTS: Final = (
    Alert(
        "TrainwayDown",
        _REPORTED.where(series(UP).equals(0), *_TARGET),
        5,
        _CRITICAL,
        "Prometheus cannot read the {{ $labels.component }} at {{ $labels.instance }}",
        "The process has ended, hangs, or cannot be reached. Jobs that run go on. Look whether it "
        "runs (`trainway server status`, `kubectl get pods`), and read the end of its log.",
    ),
    Alert(
        "TrainwayStartsAgainAndAgain",
        (changes(series(process.START), "1h") > 2).where(series(process.BUILD_INFO), *_TARGET),
        0,
        _WARNING,
        "{{ $labels.instance }} has been started {{ $value }} times within an hour",
        "The process ends and is started again. Its log says why it ends; in a cluster look for "
        "OOMKilled and failed probes with `kubectl describe pod`.",
    ),
    Alert(
        "TrainwayFilesRunOut",
        (_share(series(process.OPEN_FILES), series(process.MOST_FILES)) > 0.8).where(
            series(process.BUILD_INFO), *_TARGET
        ),
        10,
        _WARNING,
        "{{ $labels.instance }} has opened {{ $value | humanizePercentage }} of the files it may",
        "At 100 % it accepts no connection any more. Raise the limit (`ulimit -n`, LimitNOFILE), "
        "and look for clients that leave streams open.",
    ),
    Alert(
        "TrainwayServerErrors",
        _share(
            total(rate(requests.REQUESTS, "10m", code="=~5.."), *_TARGET),
            total(rate(requests.REQUESTS, "10m"), *_TARGET),
        )
        > 0.05,
        10,
        _CRITICAL,
        "The server at {{ $labels.instance }} fails {{ $value | humanizePercentage }} of requests",
        "Usually the disk is full or the database does not answer. Read server.log in the home of "
        "the server, run `df`, and `trainway server check` while it is stopped.",
    ),
    Alert(
        "TrainwayServerSlow",
        quantile(0.99, requests.LATENCY, *_TARGET, window="10m") > 2,
        15,
        _WARNING,
        "One in a hundred requests to {{ $labels.instance }} takes {{ $value | humanizeDuration }}",
        "The machine or its disk is busy, or somebody reads very much at once. Look at the "
        "dashboard Server, and at `iostat` and `top` on the machine.",
    ),
)

OPERATOR_ALERTS: Final = (
    Alert(
        "TrainwayOperatorHasNoLeader",
        total(
            _ours(series(operator.LEADER), "operator"),
            "job",
        ).equals(0),
        5,
        _CRITICAL,
        "No replica of the operator runs the controllers",
        "Nothing happens to jobs in the cluster; what runs goes on. Look at the Lease "
        "`trainer.kubeflow.org` and at the logs: most often the API server refuses the operator.",
    ),
    Alert(
        "TrainwayWatchSilent",
        series(operator.WATCH_AGE) > 180,
        5,
        _CRITICAL,
        "The operator has heard nothing of {{ $labels.resource }} for "
        "{{ $value | humanizeDuration }}",
        "It no longer sees changes. Look whether the API server answers, and whether the operator "
        "may list and watch this resource; then delete the pod, and it starts again.",
    ),
    Alert(
        "TrainwayOperatorBehind",
        series(operator.OLDEST) > 60,
        10,
        _WARNING,
        "An object of the controller {{ $labels.controller }} has waited for "
        "{{ $value | humanizeDuration }}",
        "Changes of jobs take effect late. If all workers are in use, raise "
        "`controller.groupKindConcurrency`; if requests wait, raise `clientConnection.qps`.",
    ),
    Alert(
        "TrainwayReconcileHangs",
        _ours(series(operator.LONGEST) > 300, "operator"),
        5,
        _WARNING,
        "The controller {{ $labels.controller }} has worked on one object for "
        "{{ $value | humanizeDuration }}",
        "A request does not come back, or an object is unusual. Look at the API server's latency; "
        "the log at level debug names the object. Deleting the pod starts over.",
    ),
    Alert(
        "TrainwayReconcileErrors",
        _ours(
            total(rate(operator.RECONCILE_ERRORS, "10m"), *_TARGET, "controller") > 0.1, "operator"
        ),
        15,
        _WARNING,
        "The controller {{ $labels.controller }} fails {{ $value | humanize }} times a second",
        "The log names the objects and the error. Often the API server or a webhook of somebody "
        "else refuses what the operator writes.",
    ),
    Alert(
        "TrainwayApiRequestsFail",
        (
            _share(
                total(rate(API_REQUESTS, "10m", code=_NO_ANSWER), *_TARGET),
                total(rate(API_REQUESTS, "10m"), *_TARGET),
            )
            > 0.1
        ).where(series(process.BUILD_INFO), *_TARGET),
        10,
        _WARNING,
        "{{ $value | humanizePercentage }} of the requests of {{ $labels.instance }} to the API "
        "server fail",
        "The API server is down, overloaded (429) or cannot be reached. Jobs that run go on; "
        "requests are repeated by themselves.",
    ),
    Alert(
        "TrainwayWebhookErrors",
        _ours(
            total(rate(operator.WEBHOOK_REQUESTS, "10m", code="=~5.."), *_TARGET, "webhook") > 0,
            "operator",
        ),
        5,
        _CRITICAL,
        "The webhook {{ $labels.webhook }} fails",
        "The API server refuses jobs while this lasts (`failurePolicy: Fail`). The operator's log "
        "has the error; please report it. `webhooks.failurePolicy=Ignore` lets jobs through "
        "unchecked meanwhile.",
    ),
    Alert(
        "TrainwayWebhookSlow",
        _ours(
            quantile(0.99, operator.WEBHOOK_LATENCY, *_TARGET, "webhook", window="10m") > 2,
            "operator",
        ),
        10,
        _WARNING,
        "The webhook {{ $labels.webhook }} takes {{ $value | humanizeDuration }}",
        "From 10 s on the API server refuses the job. The operator has too little CPU, or waits "
        "for the API server.",
    ),
    Alert(
        "TrainwayCertificateEnds",
        (series(operator.CERTIFICATE_END) - NOW) / DAY_S < 14,
        60,
        _CRITICAL,
        "The certificate of the webhooks ends in {{ $value | humanize }} days",
        "Then the API server refuses every job. The operator renews its own certificate 120 days "
        "before the end; the log says why it did not. One that you gave it you renew yourself, in "
        "`certificates.existingSecret`.",
    ),
)

JOB_ALERTS: Final = (
    Alert(
        "TrainwayJobsFail",
        _share(
            total(increase(FINISHED, "1h", phase=f"={Phase.FAILED}"), "job"),
            total(increase(FINISHED, "1h"), "job"),
        ).where(total(increase(FINISHED, "1h"), "job") > 9.5, "job")
        > 0.5,
        0,
        _WARNING,
        "{{ $value | humanizePercentage }} of the jobs that ended within an hour failed",
        "So many at once have one cause: a host, a file system, an image. `trainway jobs list "
        "--phase Failed` shows the nodes that failed first.",
    ),
    Alert(
        "TrainwayJobsRestart",
        total(increase(RESTARTS, "1h"), "job", "cause") > 9.5,
        0,
        _WARNING,
        "Jobs were restarted {{ $value | humanize }} times within an hour: {{ $labels.cause }}",
        "`node_lost`: look at the hosts and at the network. `out_of_memory`: jobs request too "
        "little memory. `refused`: an image or a program is missing.",
    ),
    Alert(
        "TrainwayJobsHang",
        total(increase(HANGS, "1h"), "job", "kind") > 0,
        0,
        _WARNING,
        "A {{ $labels.kind }} has stopped reporting progress",
        "GPUs are held and idle meanwhile. `trainway jobs stacks` says where its processes are; "
        "with `--hang-timeout` a job that hangs is restarted by itself.",
    ),
    Alert(
        "TrainwayJobsWaitLong",
        series(server.QUEUE_OLDEST) > 12 * HOUR_S,
        15,
        _WARNING,
        "A job on {{ $labels.backend }} has waited for {{ $value | humanizeDuration }}",
        "`trainway jobs show` says what it waits for. A job that asks for more than is ever free "
        "at once waits forever.",
    ),
    Alert(
        "TrainwayGpuIdle",
        over_time("max", series(server.GPU_UTILIZATION), "30m") < 0.02,
        30,
        _WARNING,
        "GPU {{ $labels.gpu }} on {{ $labels.host }} is held by job {{ $labels.job_id }} and does "
        "nothing",
        "Ask the owner, or look yourself with `trainway jobs stacks`: the job hangs, waits for "
        "data, or never uses the GPU that it requested.",
    ),
    Alert(
        "TrainwayGpuHot",
        series(server.GPU_TEMPERATURE) > 88,
        10,
        _WARNING,
        "GPU {{ $labels.gpu }} on {{ $labels.host }} is at {{ $value | humanize }} °C",
        "It slows down, and with it the whole job. Look at fans and air; drain the host if it "
        "stays.",
    ),
)

GROUPS: Final = {
    "trainway-programs": PROGRAM_ALERTS,
    "trainway-operator": OPERATOR_ALERTS,
    "trainway-jobs": JOB_ALERTS,
}
ALERTS: Final = tuple(alert for group in GROUPS.values() for alert in group)


def rule_groups() -> Json:
    """The rules as Prometheus reads them; a PrometheusRule has the same below `spec`."""
    return {
        "groups": [
            {"name": name, "rules": [_rule(alert) for alert in group]}
            for name, group in GROUPS.items()
        ]
    }


def _rule(alert: Alert) -> Json:
    return {
        "alert": alert.name,
        "expr": alert.query.text,
        **({"for": f"{alert.minutes}m"} if alert.minutes else {}),
        "labels": {"severity": str(alert.severity)},
        "annotations": {
            "summary": alert.summary,
            "description": alert.description,
            "runbook_url": alert.runbook,
        },
    }
