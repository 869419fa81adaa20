"""`trainway jobs move` with a real Slurm: a job goes there and away from there."""

from pathlib import Path

import pytest
from counting_job import assert_one_history, counter, moved, steps_on
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


def test_a_job_goes_to_slurm_and_back_as_the_same_job(
    slurm_site: SlurmSite, tmp_path: Path
) -> None:
    job = counter(slurm_site, tmp_path)

    for place in (ON, "local", ON):
        slurm_site.run("jobs", "move", job, "--on", place)
        moved(slurm_site, job, place)
        assert slurm_site.folder(job).exists() == (place == ON)
        steps_on(slurm_site, job)
    (slurm_site.folder(job) / "output" / "stop").touch()
    slurm_site.run("jobs", "wait", job)

    assert_one_history(slurm_site, job, places=4)
