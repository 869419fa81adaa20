"""A cluster whose API server is away for a while: no job fails for that."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.processes import wait_until
from installation import Installation, installed, kill
from shell_jobsets import GATED, ShellJobSet

PATIENCE_S: Final = 120.0


@pytest.fixture
def home(node_cluster: Access, tmp_path: Path) -> Iterator[Installation]:
    variables = {"KUBECONFIG": str(node_cluster.kubeconfig)}
    with installed(tmp_path / "home", variables) as installation:
        yield installation


def comes_to(home: Installation, job: str, phase: str) -> None:
    def is_there() -> bool:
        return bool(home.look(job)["status"]["phase"] == phase)

    assert wait_until(is_there, PATIENCE_S), home.run("jobs", "show", job)


def test_jobs_outlive_it(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    gate.mkdir()
    gate.chmod(0o777)
    names = ("ends", "is-cancelled", "is-forgotten")
    jobs = [ShellJobSet(name, GATED, gate=gate).submit(home, namespace, tmp_path) for name in names]
    for job in jobs:
        comes_to(home, job, "Running")
    file = tmp_path / "late.json"
    file.write_text(json.dumps(ShellJobSet("late", "true").manifest()))
    on = f"k8s/{CONTEXT}/{namespace}"
    node_cluster.kill_api_server()
    try:
        home.run("run", "-d", str(file), "--on", on, code=1)
        home.run("jobs", "delete", jobs[2], code=1)
        assert home.phase(jobs[2]) == "Running"
        forgotten = home.start("jobs", "delete", "--force", jobs[2]).communicate()[0]
        cancelling = home.start("jobs", "cancel", jobs[1])
        comes_to(home, jobs[1], "Stopping")
        kill(home.server_pid())
        assert home.phase(jobs[0]) == "Running"
        assert home.phase(jobs[1]) == "Stopping"
        (gate / "open").touch()
    finally:
        node_cluster.start_api_server()
    output, _ = cancelling.communicate(timeout=PATIENCE_S)
    assert cancelling.returncode == 0, output
    home.run("jobs", "wait", jobs[0])
    assert home.phase(jobs[0]) == "Succeeded"
    assert home.phase(jobs[1]) in ("Cancelled", "Succeeded")
    late = home.submit(str(file), "--on", on)
    home.run("jobs", "wait", late)
    for job in (*jobs[:2], late):
        home.run("jobs", "delete", job)
    home.run("jobs", "show", jobs[2], code=3)

    def left() -> list[str]:
        items = node_cluster.get("jobsets", "-n", namespace)["items"]
        return [str(item["metadata"]["name"]) for item in items]

    assert wait_until(lambda: left() == ["is-forgotten"], PATIENCE_S), left()
    _, _, advice = forgotten.partition(" kubectl ")
    node_cluster.kubectl(*advice.split())
    assert wait_until(lambda: left() == [], PATIENCE_S), left()
