"""The health check of a job on this machine, with real processes."""

import os
from pathlib import Path

from trainway.agent.base.labels import HEALTH_CHECK
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.local.testing import agent_job
from trainway.json_types import Json


def checked(script: str) -> Json:
    spec = jobset(
        role("node", container("main", script), parallelism=2, completions=2),
        failurePolicy={"maxRestarts": 3},
    )
    spec["metadata"]["annotations"] = {HEALTH_CHECK: "true"}
    return spec


def test_processes_start_after_the_check_of_all() -> None:
    with agent_job(checked("true")) as job:
        assert job.end()["succeeded"]
        events = [each["reason"] for each in job.records() if each["type"] == "event"]
        pods = [each for each in job.records() if each["type"] == "pod"]
    assert events[0] == "HealthChecked"
    assert {item["name"] for pod in pods for item in pod["containers"]} == {"main"}


def test_a_machine_that_fails_ends_the_job_whatever_may_restart(tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho broken\nexit 9\n")
    program.chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    devices = {"node-0-1": {"gpus": ["0"]}}
    with agent_job(checked("touch ran"), env=env, devices=devices, workdir=str(tmp_path)) as job:
        end = job.end()
        (failed,) = (each for each in job.records() if each.get("reason") == "HealthCheckFailed"
                     and each["type"] == "pod")  # fmt: skip
    assert end["reason"] == "HealthCheckFailed"
    assert end["message"] == "node-0-1: nvidia-smi exited with 9: broken"
    assert failed["pod"] == "node-0-1"
    assert not (tmp_path / "ran").exists()
