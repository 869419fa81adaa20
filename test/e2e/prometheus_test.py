"""A real Prometheus reads a real server: rules, and every query of every panel.

The operator needs an API server; here its page is served by its own metrics server with numbers
that the test plays, and test/kubernetes/api/prometheus_test.py has a real one.
"""

import asyncio
import contextlib
import http.client
import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from aiohttp import web
from cluster.ports import free_port
from installation import Installation, installed
from prometheus_server import (
    RULE_TESTS,
    RULES,
    Prometheus,
    panel_queries,
    prometheus,
    promtool,
    variable_queries,
    wait_until_empty,
)

from trainway.json_types import Json
from trainway.operator.metrics_server import metrics_app
from trainway.operator.metrics_testing import played_metrics

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("prometheus")]

TOKEN = "a-token-of-the-test-that-is-long-enough"  # noqa: S105 - of this test
OF_SERVER = ("trainway-jobs", "trainway-job", "trainway-nodes", "trainway-server")
OF_BOTH = ("trainway-queue",)
OF_OPERATOR = ("trainway-operator",)
GPU = "0, GPU-a, 97, 40, 80, 350.5, 61"
PROGRESS = {"progressPercentage": 25, "estimatedRemainingSeconds": 600}


@dataclass(frozen=True)
class Site:
    """A server with jobs, and the Prometheus that reads it."""

    home: Installation
    prometheus: Prometheus
    job_id: str
    """Of the job that runs."""
    failed_id: str

    def choices(self) -> dict[str, str]:
        return {"source": ".*", "backend": ".*", "name": ".*", "job_id": self.job_id}


@contextlib.contextmanager
def operator_page(port: int) -> Iterator[None]:
    """The metrics of an operator, as it serves them."""
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(metrics_app(played_metrics(), None))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def listen() -> None:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()

    try:
        asyncio.run_coroutine_threadsafe(listen(), loop).result(60)
        yield
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


def report(port: int, job_id: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        status = {**PROGRESS, "lastUpdatedTime": "2026-11-17T12:00:00Z"}
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        path = f"/api/v1/jobs/{job_id}/progress"
        connection.request("POST", path, json.dumps({"trainerStatus": status}), headers)
        assert connection.getresponse().status == 200


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("prometheus")
    programs = folder / "bin"
    programs.mkdir()
    smi = programs / "nvidia-smi"
    smi.write_text(f'#!/bin/sh\nwhile :; do echo "{GPU}"; sleep 1; done\n')
    smi.chmod(0o755)
    token = folder / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    served, operator = free_port(), free_port()
    scrapes: list[Json] = [
        {
            "job_name": "trainway-server",
            "authorization": {"credentials_file": str(token)},
            "static_configs": [{"targets": [f"127.0.0.1:{served}"]}],
        },
        {
            "job_name": "trainway-operator",
            "static_configs": [{"targets": [f"127.0.0.1:{operator}"]}],
        },
    ]
    variables = {
        "PATH": f"{programs}:/usr/bin:/bin",
        "TRAINWAY_LOCAL_CAPACITY": '{"cpu": "64", "memory": "64Gi", "gpus": 2}',
    }
    with contextlib.ExitStack() as stack:
        home = stack.enter_context(installed(folder / "home", variables))
        address = f"127.0.0.1:{served}"
        home.run("server", "start", "--listen", address, "--token-file", str(token))
        stack.enter_context(operator_page(operator))
        server = stack.enter_context(prometheus(folder, scrapes))
        job_id, failed_id = submitted_jobs(home)
        report(served, job_id)
        server.wait_for_targets(2)
        yield Site(home, server, job_id, failed_id)


def submitted_jobs(home: Installation) -> tuple[str, str]:
    """A job that runs on a GPU, one that waits for two, one that failed twice; first and last."""
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    runs = home.submit("--name", "runs", "--gpus", "1", "--", *sleep)
    home.submit("--name", "waits", "--gpus", "2", "--", *sleep)
    failed = home.submit("--name", "fails", "--restarts", "1", "--", "false")
    for job, phase in ((runs, "Running"), (failed, "Failed")):
        wait_until_empty(lambda job=job, phase=phase: not_yet(home, job, phase))
    return runs, failed


def not_yet(home: Installation, job: str, phase: str) -> str:
    found = home.phase(job)
    return "" if found == phase else found


def test_every_panel_shows_something(site: Site) -> None:
    names = (*OF_SERVER, *OF_BOTH, *OF_OPERATOR)
    queries = panel_queries(names, site.choices())
    assert len(queries) > 70
    site.prometheus.wait_for_series(queries)


def test_every_choice_of_a_dashboard_offers_something(site: Site) -> None:
    choices = list(variable_queries((*OF_SERVER, *OF_BOTH, *OF_OPERATOR), site.choices()))
    offered: dict[tuple[str, str], list[str]] = {}

    def without() -> list[tuple[str, str]]:
        offered.update({choice: site.prometheus.values(*choice) for choice in choices})
        return [choice for choice in choices if not offered[choice]]

    wait_until_empty(without)
    assert offered["trainway_build_info", "job"] == ["trainway-operator", "trainway-server"]
    seen = set(offered['trainway_job_info{name=~".*"}', "job_id"])
    assert seen - {site.failed_id} == {site.job_id}  # the one that failed may have been read before


def test_the_numbers_are_those_of_the_jobs(site: Site) -> None:
    queries = {
        'trainway_jobs{phase="Running"} and on (job) trainway_build_info{component="server"}': 1,
        'trainway_jobs{phase="Queued"} + ignoring (phase) trainway_jobs{phase="Inadmissible"}': 1,
        'sum(trainway_job_restarts_total{job="trainway-server"})': 1,
        "trainway_job_progress_ratio": 0.25,
        "trainway_job_remaining_seconds": 600,
        "trainway_node_gpu_power_watts": 350.5,
        'trainway_gpus_held{backend="local"}': 1,
        'trainway_queue_jobs{backend="local"}': 1,
    }

    def wrong() -> dict[str, list[str]]:
        found = {
            query: [each["value"][1] for each in site.prometheus.series(query)] for query in queries
        }
        return {q: got for q, got in found.items() if list(map(float, got)) != [queries[q]]}

    wait_until_empty(wrong)


def test_prometheus_evaluates_every_rule_and_none_fires(site: Site) -> None:
    rules = [
        rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
    ]

    def unsound() -> list[object]:
        groups = site.prometheus.ask("/api/v1/rules")["groups"]
        found = [rule for group in groups for rule in group["rules"]]
        assert {rule["name"] for rule in found} == {rule["alert"] for rule in rules}
        return [rule for rule in found if rule["health"] != "ok"]

    wait_until_empty(unsound)
    groups = site.prometheus.ask("/api/v1/rules")["groups"]
    firing = {
        rule["name"] for group in groups for rule in group["rules"] if rule["state"] == "firing"
    }
    assert firing == set()


def test_a_wrong_token_is_told_by_the_target(site: Site, tmp_path: Path) -> None:
    listen = json.loads((site.home.home / "server.json").read_text())["listen"]
    scrape = {
        "job_name": "wrong",
        "authorization": {"credentials": "wrong"},
        "static_configs": [{"targets": [listen]}],
    }
    with prometheus(tmp_path, [scrape]) as other:

        def unread() -> list[str]:
            targets = other.ask("/api/v1/targets", state="active")["activeTargets"]
            said = [(target["health"], "401" in target["lastError"]) for target in targets]
            return [] if said == [("down", True)] else [str(targets)]

        wait_until_empty(unread)


def test_every_alert_fires_and_does_not_fire() -> None:
    said = promtool("check", "rules", str(RULES))
    tests = yaml.safe_load(RULE_TESTS.read_text())["tests"]
    alerts = {check["alertname"] for test in tests for check in test["alert_rule_test"]}
    assert f"{len(alerts)} rules found" in said
    assert len(tests) == 2 * len(alerts)
    assert "SUCCESS" in promtool("test", "rules", str(RULE_TESTS))
