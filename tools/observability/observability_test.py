"""Dashboards and alerts before anything reads them; test/e2e/prometheus_test.py lets Prometheus."""

import json
import re
from dataclasses import replace

import pytest
from click import Group

from observability.alert_cases import CASES, named
from observability.alerts import ALERTS
from observability.files import DASHBOARDS
from observability.grafana import dashboard_json, widths
from observability.jobs import both
from observability.panel import Dashboard, Line, Row, Shape, graph
from observability.query import NOW, increase, quantile, rate, series, total
from quick_tests import ROOT
from trainway.cli.app import app
from trainway.engine.statistics import table as server
from trainway.operator import metric_table as operator
from trainway.server.request_statistics import LATENCY, REQUEST_METRICS, REQUESTS
from trainway.telemetry.metric import Metric
from trainway.telemetry.process import PROCESS_METRICS, START

COMMAND = re.compile(r"`trainway ([a-z]+)(?: ([a-z]+))?")
NOT_SHOWN = {
    "process_virtual_memory_bytes": "says nothing about a Python process",
    "workqueue_unfinished_work_seconds": "workqueue_longest_running_processor_seconds says it",
    "workqueue_work_duration_seconds": "controller_runtime_reconcile_time_seconds says it",
    "mpi_operator_jobs_created_total": "for dashboards of MPI Operator",
    "mpi_operator_jobs_successful_total": "for dashboards of MPI Operator",
    "mpi_operator_jobs_failed_total": "for dashboards of MPI Operator",
    "mpi_operator_job_info": "for dashboards of MPI Operator",
    "mpi_operator_is_leader": "for dashboards of MPI Operator",
}


def test_queries_are_written_as_prometheus_reads_them() -> None:
    errors = total(rate(REQUESTS, "5m", code="=~5.."), "instance")
    assert errors.text == (
        'sum by (instance) (rate(trainway_http_requests_total{code=~"5.."}[5m]))'
    )
    share = errors / total(rate(REQUESTS, "5m"), "instance") > 0.05
    assert share.text == (
        '(sum by (instance) (rate(trainway_http_requests_total{code=~"5.."}[5m])) / '
        "sum by (instance) (rate(trainway_http_requests_total[5m]))) > 0.05"
    )
    assert share.metrics == {REQUESTS}
    assert (NOW - series(START)).labels == {"job", "instance"}
    assert (NOW - series(START)).text == "time() - process_start_time_seconds"
    assert quantile(0.9, LATENCY, "method", window="5m").text == (
        "histogram_quantile(0.9, sum by (le, method) "
        "(rate(trainway_http_request_duration_seconds_bucket[5m])))"
    )
    quoted = series(server.JOB_INFO, name='=a"b\\')
    assert quoted.text == 'trainway_job_info{name="a\\"b\\\\"}'


def test_a_query_cannot_name_what_is_not_there() -> None:
    renamed = replace(REQUESTS, labels=("method", "status"))
    for wrong in (
        lambda: total(rate(renamed), "code"),
        lambda: series(server.JOB_INFO, owner="=me"),
        lambda: series(server.JOB_INFO, name="me"),
        lambda: rate(server.JOB_INFO),
        lambda: increase(LATENCY, "5m"),
        lambda: series(LATENCY),
        lambda: quantile(0.5, REQUESTS),
        lambda: both(REQUESTS, LATENCY),
        lambda: series(START).where(total(rate(REQUESTS), "code"), "instance"),
        lambda: named(REQUESTS, code="200"),
    ):
        with pytest.raises(ValueError, match=r"has (no|the) label|operator|counter|histogram|two"):
            wrong()
    panel = graph("x", "y", Line(total(rate(REQUESTS), "code"), "{{method}}"))
    dashboard = replace(DASHBOARDS[0], rows=(Row("r", (panel,)),))
    with pytest.raises(ValueError, match="has no label method"):
        dashboard_json(dashboard)
    with pytest.raises(ValueError, match="24 columns"):
        widths(Row("r", (replace(panel, width=20),)))


def test_every_metric_is_shown_or_there_is_a_reason() -> None:
    lines = [line for board in DASHBOARDS for panel in board.panels for line in panel.lines]
    queries = [*(line.query for line in lines), *(alert.query for alert in ALERTS)]
    shown = {metric.name for query in queries for metric in query.metrics}
    all_: tuple[Metric, ...] = (
        *(*server.JOB_METRICS, *server.RUNNING_METRICS, *REQUEST_METRICS, *PROCESS_METRICS),
        *(*operator.JOB_METRICS, *operator.CONTROLLER_METRICS),
        *(*operator.WEBHOOK_METRICS, *operator.MPI_METRICS),
    )
    assert {metric.name for metric in all_} - shown == NOT_SHOWN.keys()


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda dashboard: dashboard.uid)
def test_a_dashboard_is_whole(dashboard: Dashboard) -> None:
    model = json.loads(json.dumps(dashboard_json(dashboard)))
    panels = model["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not taken & cells
        assert max(x for x, _ in cells) < 24
        taken |= cells
    names = {variable.name for variable in dashboard.variables} | {"__rate_interval", "__range"}
    for panel in dashboard.panels:
        assert panel.what.endswith("."), panel.title
        for line in panel.lines:
            assert set(re.findall(r"\$(\w+)", line.query.text)) <= names
            assert panel.shape is not Shape.GRAPH or line.legend
    for variable in dashboard.variables:
        assert variable.label in variable.query.labels


def test_every_alert_says_what_to_do_and_has_its_section_and_its_case() -> None:
    assert [case.name for case in CASES] == [alert.name for alert in ALERTS]
    page = (ROOT / "docs" / "monitoring.md").read_text()
    sections = re.findall(r"^### (Trainway\w+)$", page, re.MULTILINE)
    assert sections == [alert.name for alert in ALERTS]
    for alert in ALERTS:
        assert alert.runbook == f"docs/monitoring.md#{alert.name.lower()}"
        assert alert.description.endswith(".")
        assert not alert.summary.endswith(".")
        named_labels = set(re.findall(r"\$labels\.(\w+)", alert.summary + alert.description))
        assert named_labels <= alert.query.labels, alert.name


def test_commands_that_alerts_and_panels_name_exist() -> None:
    texts = [alert.description for alert in ALERTS]
    texts += [panel.what for dashboard in DASHBOARDS for panel in dashboard.panels]
    found = {match for text in texts for match in COMMAND.findall(text)}
    assert ("jobs", "stacks") in found
    for group, command in found:
        context = app.make_context("trainway", [group], resilient_parsing=True)
        known = app.get_command(context, group)
        assert known is not None, group
        if command and isinstance(known, Group):
            assert known.get_command(context, command) is not None, (group, command)
