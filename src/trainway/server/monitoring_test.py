"""The page for Prometheus, of a real server."""

import contextlib
import http.client
import json
import os
import shutil
import subprocess
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from trainway.engine.statistics.table import JOB_METRICS, RUNNING_METRICS
from trainway.engine.testing import WAIT_FOR_FILE, jobset
from trainway.server.request_statistics import REQUEST_METRICS
from trainway.server.testing import RunningServer
from trainway.telemetry.process import PROCESS_METRICS


def scrape(server: RunningServer, token: str) -> tuple[int, str]:
    address = json.loads((server.home / "server.json").read_text())["listen"]
    connection = http.client.HTTPConnection(address, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_the_metrics_of_a_server_with_a_job(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "home", "--listen", "127.0.0.1:0") as server:
        assert scrape(server, "wrong")[0] == 401
        done = server.submit(jobset("done"))["metadata"]["id"]
        server.wait(done, "Succeeded")
        gate = tmp_path / "gate"
        waits = server.submit(jobset("waits", WAIT_FOR_FILE.format(gate)))["metadata"]["id"]
        server.wait(waits, "Running")
        status, text = scrape(server, (server.home / "token").read_text().strip())
        gate.touch()
    assert status == 200
    for line in (
        'trainway_jobs{phase="Succeeded"} 1.0',
        'trainway_jobs{phase="Running"} 1.0',
        'trainway_jobs{phase="Failed"} 0.0',
        'trainway_jobs_finished_total{backend="local",kind="JobSet",phase="Succeeded"} 1.0',
        'trainway_jobs_created_total{backend="local",kind="JobSet"} 2.0',
        'trainway_job_time_to_running_seconds_count{backend="local",kind="JobSet"} 2.0',
        'trainway_queue_wait_seconds_count{backend="local"} 2.0',
        f'trainway_job_restarts{{job_id="{waits}"}} 0.0',
        'trainway_http_requests_total{code="201",method="POST"} 2.0',
        'trainway_build_info{component="server"',
    ):
        assert line in text
    metrics = (*JOB_METRICS, *RUNNING_METRICS, *REQUEST_METRICS, *PROCESS_METRICS)
    labels = {metric.name.removesuffix("_total"): set(metric.labels) for metric in metrics}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            assert set(sample.labels) - {"le"} == labels[family.name]
    if shutil.which("promtool") or os.environ.get("CI") == "true":
        command = ["promtool", "check", "metrics"]
        done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stdout + done.stderr) == (0, "")
