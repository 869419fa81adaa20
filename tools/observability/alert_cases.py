"""For each alert, numbers with which it fires and numbers with which it does not.

They become a file for `promtool test rules`, which plays them against the rules: labels, texts and
the time for which an alert must hold are compared too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from observability.alerts import ALERTS, Alert
from observability.query import UP
from trainway.engine.statistics import table as server
from trainway.json_types import Json
from trainway.operator import metric_table as operator
from trainway.server import request_statistics as requests
from trainway.telemetry import process
from trainway.telemetry.api_requests import API_REQUESTS
from trainway.telemetry.job_metrics import SERVER_JOBS
from trainway.telemetry.metric import Metric

TARGET: Final = {"job": "trainway", "instance": "train:7780"}
ALWAYS: Final = "1+0x200"
GROWS: Final = "0+60x200"
"""A counter that grows by one a second."""
STAYS: Final = "0+0x200"
_LABEL: Final = re.compile(r"{{ \$labels\.(\w+) }}")
_VALUE: Final = re.compile(r"{{ \$value[^}]*}}")

Numbers = Mapping[str, str]
"""Series, and their values minute by minute, as promtool writes both."""


@dataclass(frozen=True)
class Case:
    """How an alert is tried out."""

    name: str
    fires: Numbers
    quiet: Numbers
    labels: Mapping[str, str]
    """Of the alert that fires."""
    value: str = ""
    """How its texts write the number."""
    minute: int = 60
    both: Numbers = field(default_factory=dict)
    """What is there whether it fires or not."""


def named(metric: Metric, suffix: str = "", **labels: str) -> str:
    """A series of a metric, with exactly its labels."""
    wanted = set(metric.labels) | ({"le"} if suffix == "_bucket" else set())
    if set(labels) != wanted:
        raise ValueError(f"{metric.name} has the labels {', '.join(sorted(wanted))}")
    pairs = ", ".join(f'{name}="{value}"' for name, value in {**labels, **TARGET}.items())
    return f"{metric.name}{suffix}{{{pairs}}}"


def _build(component: str) -> str:
    return named(process.BUILD_INFO, component=component, version="1", python_version="3")


def _slow(metric: Metric, **labels: str) -> Numbers:
    """All requests took between 2.5 and 5 seconds."""
    return _buckets(metric, labels, {"1.0": STAYS, "2.5": STAYS, "5.0": GROWS, "+Inf": GROWS})


def _quick(metric: Metric, **labels: str) -> Numbers:
    """All requests took less than a second."""
    return _buckets(metric, labels, {"1.0": GROWS, "2.5": GROWS, "5.0": GROWS, "+Inf": GROWS})


def _buckets(metric: Metric, labels: Mapping[str, str], bounds: Numbers) -> Numbers:
    return {named(metric, "_bucket", le=le, **labels): values for le, values in bounds.items()}


_SERVER: Final = {_build("server"): ALWAYS}
_OPERATOR: Final = {_build("operator"): ALWAYS}
_QUEUE: Final = {"name": "trainjob", "controller": "trainjob"}
_GPU: Final = {"job_id": "01j", "node": "node-0", "host": "h1", "backend": "local", "gpu": "0"}
_JOB: Final = {"backend": "local", "kind": "TrainJob"}
_BY_NODE: Final = named(SERVER_JOBS.restarts, cause="node_lost", **_JOB)
_HANGS: Final = named(SERVER_JOBS.hangs, **_JOB)
_OK: Final = named(requests.REQUESTS, method="GET", code="200")
_REQUEST: Final = {"host": "https://k", "method": "GET"}


def _ended(phase: str) -> str:
    return named(SERVER_JOBS.finished, phase=phase, **_JOB)


CASES: Final = (
    Case(
        "TrainwayDown",
        fires={_build("server"): "1+0x5 _x60", named(UP): "1+0x5 0+0x60"},
        quiet={_build("server"): "1+0x5 _x2 1+0x60", named(UP): "1+0x5 0+0x2 1+0x60"},
        labels={**TARGET, "component": "server"},
        minute=20,
    ),
    Case(
        "TrainwayStartsAgainAndAgain",
        fires={named(process.START): "0+0x10 100+0x10 200+0x10 300+0x60"},
        quiet={named(process.START): "0+0x10 100+0x90"},
        labels=TARGET,
        value="3",
        both=_SERVER,
    ),
    Case(
        "TrainwayFilesRunOut",
        fires={named(process.OPEN_FILES): "900+0x200"},
        quiet={named(process.OPEN_FILES): "100+0x200"},
        labels=TARGET,
        value="90%",
        both={**_SERVER, named(process.MOST_FILES): "1000+0x200"},
    ),
    Case(
        "TrainwayServerErrors",
        fires={_OK: GROWS, named(requests.REQUESTS, method="GET", code="500"): GROWS},
        quiet={_OK: GROWS, named(requests.REQUESTS, method="GET", code="404"): GROWS},
        labels=TARGET,
        value="50%",
    ),
    Case(
        "TrainwayServerSlow",
        fires=_slow(requests.LATENCY, method="GET"),
        quiet=_quick(requests.LATENCY, method="GET"),
        labels=TARGET,
        value="4.975s",
    ),
    Case(
        "TrainwayOperatorHasNoLeader",
        fires={named(operator.LEADER, name="lease"): STAYS},
        quiet={named(operator.LEADER, name="lease"): ALWAYS},
        labels={"job": TARGET["job"]},
        both=_OPERATOR,
    ),
    Case(
        "TrainwayWatchSilent",
        fires={named(operator.WATCH_AGE, resource="jobsets"): "0+60x200"},
        quiet={named(operator.WATCH_AGE, resource="jobsets"): "60+0x200"},
        labels={**TARGET, "resource": "jobsets"},
        value="1h 0m 0s",
    ),
    Case(
        "TrainwayOperatorBehind",
        fires={named(operator.OLDEST, controller="trainjob"): "600+0x200"},
        quiet={named(operator.OLDEST, controller="trainjob"): "600+0x5 1+0x200"},
        labels={**TARGET, "controller": "trainjob"},
        value="10m 0s",
    ),
    Case(
        "TrainwayReconcileHangs",
        fires={named(operator.LONGEST, **_QUEUE): "600+0x200"},
        quiet={named(operator.LONGEST, **_QUEUE): "6+0x200"},
        labels={**TARGET, **_QUEUE},
        value="10m 0s",
        both=_OPERATOR,
    ),
    Case(
        "TrainwayReconcileErrors",
        fires={named(operator.RECONCILE_ERRORS, controller="trainjob"): GROWS},
        quiet={named(operator.RECONCILE_ERRORS, controller="trainjob"): "0+1x200"},
        labels={**TARGET, "controller": "trainjob"},
        value="1",
        both=_OPERATOR,
    ),
    Case(
        "TrainwayApiRequestsFail",
        fires={named(API_REQUESTS, code="<error>", **_REQUEST): GROWS},
        quiet={named(API_REQUESTS, code="404", **_REQUEST): GROWS},
        labels=TARGET,
        value="50%",
        both={**_OPERATOR, named(API_REQUESTS, code="200", **_REQUEST): GROWS},
    ),
    Case(
        "TrainwayWebhookErrors",
        fires={named(operator.WEBHOOK_REQUESTS, webhook="/validate", code="500"): GROWS},
        quiet={named(operator.WEBHOOK_REQUESTS, webhook="/validate", code="200"): GROWS},
        labels={**TARGET, "webhook": "/validate"},
        both=_OPERATOR,
    ),
    Case(
        "TrainwayWebhookSlow",
        fires=_slow(operator.WEBHOOK_LATENCY, webhook="/validate"),
        quiet=_quick(operator.WEBHOOK_LATENCY, webhook="/validate"),
        labels={**TARGET, "webhook": "/validate"},
        value="4.975s",
        both=_OPERATOR,
    ),
    Case(
        "TrainwayCertificateEnds",  # time starts at 0 here
        fires={named(operator.CERTIFICATE_END): f"{7200 + 7 * 86_400}+0x200"},
        quiet={named(operator.CERTIFICATE_END): f"{100 * 86_400}+0x200"},
        labels=TARGET,
        value="7",
        minute=120,
    ),
    Case(
        "TrainwayJobsFail",
        fires={_ended("Failed"): "0+3x200", _ended("Succeeded"): "0+1x200"},
        quiet={_ended("Failed"): "0+1x3 3+0x200", _ended("Succeeded"): STAYS},
        labels={"job": TARGET["job"]},
        value="75%",
    ),
    Case(
        "TrainwayJobsRestart",
        fires={_BY_NODE: "0+1x200"},
        quiet={_BY_NODE: "0+1x3 3+0x200"},
        labels={"job": TARGET["job"], "cause": "node_lost"},
        value="60",
    ),
    Case(
        "TrainwayJobsHang",
        fires={_HANGS: "0+0x30 1+0x200"},
        quiet={_HANGS: "1+0x200"},
        labels={"job": TARGET["job"], "kind": "TrainJob"},
    ),
    Case(
        "TrainwayJobsWaitLong",
        fires={named(server.QUEUE_OLDEST, backend="local"): "50000+0x200"},
        quiet={named(server.QUEUE_OLDEST, backend="local"): "600+0x200"},
        labels={**TARGET, "backend": "local"},
        value="13h 53m 20s",
    ),
    Case(
        "TrainwayGpuIdle",
        fires={named(server.GPU_UTILIZATION, **_GPU): STAYS},
        quiet={named(server.GPU_UTILIZATION, **_GPU): "0+0x70 0.5 0+0x200"},
        labels={**TARGET, **_GPU},
        minute=90,
    ),
    Case(
        "TrainwayGpuHot",
        fires={named(server.GPU_TEMPERATURE, **_GPU): "95+0x200"},
        quiet={named(server.GPU_TEMPERATURE, **_GPU): "70+0x200"},
        labels={**TARGET, **_GPU},
        value="95",
    ),
)


def rule_tests(rule_file: str) -> Json:
    """What `promtool test rules` reads."""
    alerts = {alert.name: alert for alert in ALERTS}
    tests = []
    for case in CASES:
        alert = alerts[case.name]
        firing = [
            {
                "exp_labels": {**case.labels, "severity": str(alert.severity)},
                "exp_annotations": _annotations(alert, case),
            }
        ]
        tests += [
            _test(f"{case.name} fires", case, case.fires, firing),
            _test(f"{case.name} does not fire", case, case.quiet, []),
        ]
    return {"rule_files": [rule_file], "evaluation_interval": "1m", "tests": tests}


def _test(name: str, case: Case, numbers: Numbers, expected: list[Json]) -> Json:
    rows = {**numbers, **case.both}
    expectation = {"eval_time": f"{case.minute}m", "alertname": case.name, "exp_alerts": expected}
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": series, "values": values} for series, values in rows.items()],
        "alert_rule_test": [expectation],
    }


def _annotations(alert: Alert, case: Case) -> Json:
    def text(template: str) -> str:
        with_labels = _LABEL.sub(lambda found: case.labels[found.group(1)], template)
        return _VALUE.sub(case.value, with_labels)

    return {
        "summary": text(alert.summary),
        "description": text(alert.description),
        "runbook_url": alert.runbook,
    }
