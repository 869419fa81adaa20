"""`trainway jobs move` with a real Slurm: a job that waits is withdrawn, and begins elsewhere."""

import pytest
from slurm_site import ON, SlurmSite

pytestmark = pytest.mark.xdist_group("slurm")


def test_a_job_that_waits_in_slurm_begins_elsewhere(slurm_site: SlurmSite) -> None:
    words = ("--slurm", "begin=now+1hour", "--name", "late", "--", "echo", "here")
    job = slurm_site.submit("--on", ON, *words)
    slurm_site.wait_for_phase(job, "Queued")
    number = slurm_site.slurm_job(job)

    slurm_site.run("jobs", "move", job, "--on", "local")
    slurm_site.run("jobs", "wait", job)

    shown = slurm_site.job(job)
    assert (shown["metadata"]["id"], shown["spec"]["backend"]) == (job, "local")
    assert slurm_site.run("jobs", "logs", job) == "node-0 | here\n"
    queued = slurm_site.slurm.run("squeue", "-h", "-o", "%A").split()
    assert str(number) not in queued
    assert not slurm_site.folder(job).exists()


def test_a_job_that_has_started_in_slurm_stays(slurm_site: SlurmSite) -> None:
    job = slurm_site.submit("--on", ON, "--name", "runs", "--", "sleep", "1000")
    slurm_site.wait_for_phase(job, "Running")

    slurm_site.run("jobs", "move", job, "--on", "local", code=1)

    assert (slurm_site.phase(job), slurm_site.look(job)["spec"]["backend"]) == ("Running", ON)
    slurm_site.run("jobs", "cancel", job)
