"""Worker pools on SSH hosts: a cable is pulled, and the job begins anew on another worker."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from gate import Gate
from ssh_pool import CPUS, ON, SshPool, until

pytestmark = pytest.mark.xdist_group("ssh")


def _pool(ssh_pool: SshPool) -> Any:
    return ssh_pool.get("/worker-pools/far")["status"]


def test_a_job_on_a_lost_host_begins_anew_on_another_worker(
    ssh_pool: SshPool, gate: Gate, tmp_path: Path
) -> None:
    file = tmp_path / "pool.yaml"
    file.write_text(
        "name: far\npool: {workers: 2}\n"
        f"resources: {{infra: {ON}, cpus: {CPUS}}}\nsetup: echo ready >state.txt\n"
    )
    ssh_pool.run("jobs", "pool", "apply", str(file))
    until(lambda: _pool(ssh_pool)["readyWorkers"] == 2, "its workers are not ready")
    task = tmp_path / "task.yaml"
    task.write_text("run: cat state.txt\n")
    assert "ready" in ssh_pool.run("jobs", "launch", "-p", "far", str(task))
    script = f'echo began >>"$TRAINWAY_OUTPUT_DIR/notes"; exec {shlex.join(gate.command("job"))}'
    job = ssh_pool.submit("-p", "far", "--", "sh", "-c", script)
    gate.next()
    notes = ssh_pool.home / "jobs" / job / "output" / "notes"
    until(notes.exists, "its output does not come to the server")
    first = ssh_pool.job(job)["status"]["worker"]
    (lost,) = ssh_pool.hosts_of(job).values()
    ssh_pool.hosts.cut(lost)
    try:
        visitor = gate.next()
        status = ssh_pool.job(job)["status"]
        assert status["worker"] not in ("", first)
        visitor.let_go()
        ssh_pool.run("jobs", "wait", job)
        until(
            lambda: (
                _pool(ssh_pool)["readyWorkers"] == 2
                and first not in [each["name"] for each in _pool(ssh_pool)["workers"]]
            ),
            "the lost worker is not replaced",
        )
    finally:
        ssh_pool.hosts.heal(lost)
        ssh_pool.run("jobs", "pool", "down", "far", "-y", "--cancel-jobs")
    assert ssh_pool.phase(job) == "Succeeded"
    assert notes.read_text() == "began\nbegan\n", "it has what the server had of its output"
