"""Worker pools on a real Slurm: each worker is an allocation, and a lost one is replaced."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from gate import Gate
from slurm_site import ON, SlurmSite, until

from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")


def pool(site: SlurmSite) -> Any:
    return site.get("/worker-pools/held")["status"]


def workers(site: SlurmSite) -> set[str]:
    return {each["name"] for each in pool(site)["workers"]}


def is_ready(site: SlurmSite, count: int) -> bool:
    status = pool(site)
    return bool(status["readyWorkers"] == count == len(status["workers"]))


def test_a_job_of_a_lost_allocation_begins_anew_on_another_worker(
    idle_slurm_cluster: SlurmCluster, slurm_site: SlurmSite, gate: Gate, tmp_path: Path
) -> None:
    site, slurm = slurm_site, idle_slurm_cluster
    file, task = tmp_path / "pool.yaml", tmp_path / "task.yaml"
    file.write_text(
        "name: held\npool: {workers: 2}\n"
        f"resources: {{infra: {ON}, cpus: 2}}\nsetup: echo ready >state.txt\n"
    )
    task.write_text("run: cat state.txt\n")
    site.run("jobs", "pool", "apply", str(file))
    try:
        until(lambda: is_ready(site, 2), "its workers are not ready")
        assert "ready" in site.run("jobs", "launch", "-p", "held", str(task))
        script = f'echo began >>"$TRAINWAY_OUTPUT_DIR/notes"; exec {shlex.join(gate.command())}'
        job = site.submit("-p", "held", "--", "sh", "-c", script)
        gate.next()
        notes = site.home / "jobs" / job / "output" / "notes"
        until(notes.exists, "its output does not come to the server")
        first = site.job(job)["status"]["worker"]
        slurm.run("scancel", allocation(slurm, first))
        visitor = gate.next()
        assert site.job(job)["status"]["worker"] not in ("", first)
        visitor.let_go()
        site.run("jobs", "wait", job)
        until(
            lambda: is_ready(site, 2) and first not in workers(site),
            "the lost worker is not replaced",
        )
        assert notes.read_text() == "began\nbegan\n"
    finally:
        site.run("jobs", "pool", "down", "held", "-y", "--cancel-jobs")
    slurm.wait_until_empty()


def allocation(slurm: SlurmCluster, worker: str) -> str:
    """The batch job that holds the node of a worker."""
    lines = slurm.run("squeue", "-h", "-o", "%i %j").splitlines()
    return next(line.split()[0] for line in lines if worker in line)
