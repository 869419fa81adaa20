"""`trainway jobs move` with a real Slurm: a job goes there and away from there."""

from pathlib import Path

import pytest
from counting_job import assert_one_history, counter, moved, steps_on
from installation import kill
from patience import until
from slurm_site import ON, SlurmSite, site_of

from slurm_cluster import SlurmCluster

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


def test_a_server_that_is_killed_at_every_step_of_a_move_goes_on_with_it(
    slurm_site: SlurmSite, tmp_path: Path
) -> None:
    job = counter(slurm_site, tmp_path)

    for place in (ON, "local"):
        slurm_site.run("jobs", "move", job, "--on", place)
        kill_at_every_step(slurm_site, job)
        moved(slurm_site, job, place)
        kill(slurm_site.server_pid())
        steps_on(slurm_site, job)
    Path(slurm_site.job(job)["status"]["outputDir"], "stop").touch()
    slurm_site.run("jobs", "wait", job)

    assert_one_history(slurm_site, job, places=3)
    assert not slurm_site.folder(job).exists()


LOST = 'test -n "$SLURM_JOB_ID" && sleep 1000; echo attempt $TRAINWAY_RESTART_ATTEMPT'
"""Runs for ever on Slurm, and ends at once on this machine."""


def test_a_job_that_slurm_cannot_hand_over_begins_anew_when_its_node_is_lost(
    idle_slurm_cluster: SlurmCluster, tmp_path: Path
) -> None:
    slurm = idle_slurm_cluster
    with site_of(slurm, tmp_path / "site", section={"outputs": "keep"}) as site:
        places = ("--on", f"{ON},local", "--recovery-strategy", "eager-next")
        job = site.submit(*places, "--name", "lost", "--", "sh", "-c", LOST)
        site.wait_for_phase(job, "Running")
        number = site.slurm_job(job)
        slurm.declare_down(slurm.nodes.index(slurm.named(slurm.facts(number)["NodeList"])))
        site.run("jobs", "wait", job)

        shown = site.job(job)
        # Slurm may have begun another attempt before it was told to give up the job.
        restarts = shown["status"]["restarts"]
        assert restarts in (1, 2)
        assert site.run("jobs", "logs", job) == f"node-0 | attempt {restarts}\n"
        ended = shown["status"]["endedAttempts"]
        assert (ended[0]["attempt"], ended[0]["reason"]) == (0, "NodeLost")
        assert (shown["spec"]["backend"], {each["place"] for each in ended}) == ("local", {ON})
        assert str(number) not in slurm.run("squeue", "-h", "-o", "%A").split()


def kill_at_every_step(site: SlurmSite, job: str) -> None:
    """Kill the server whenever a job that moves was seen to have come further."""
    seen = set()

    def has_arrived() -> bool:
        move = site.look(job)["status"].get("move")
        if move is not None and move["step"] not in seen:
            seen.add(move["step"])
            kill(site.server_pid())
        return move is None

    until(has_arrived, "it does not arrive")
