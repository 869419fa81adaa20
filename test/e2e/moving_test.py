"""`trainway jobs move` with real hosts: one job, one history, no step lost after a checkpoint."""

from pathlib import Path

import pytest
from counting_job import assert_one_history, counter, moved, numbers, said, steps_on
from installation import kill, processes_of
from patience import until
from ssh_pool import ON, SshPool

pytestmark = pytest.mark.xdist_group("ssh")


def here(pool: SshPool, job: str) -> list[int]:
    """What runs of a job on this machine itself, which also sees the processes of its hosts."""
    found = processes_of(job)
    on_hosts = {each.pid for each in pool.hosts.processes()}
    return [pid for pid in found if pid not in on_hosts]


def test_a_job_goes_to_hosts_and_back_as_the_same_job(ssh_pool: SshPool, tmp_path: Path) -> None:
    job = counter(ssh_pool, tmp_path)

    assert ssh_pool.run("jobs", "move", job, "--on", ON) == f"counter moves from local to {ON}\n"
    moved(ssh_pool, job, ON)
    assert here(ssh_pool, job) == []
    steps_on(ssh_pool, job)
    ssh_pool.run("jobs", "move", "counter", "--on", "local")
    moved(ssh_pool, job, "local")
    until(lambda: ssh_pool.left_on_hosts(job) == [], "something of it is left")
    steps_on(ssh_pool, job)
    Path(ssh_pool.job(job)["status"]["outputDir"], "stop").touch()
    ssh_pool.run("jobs", "wait", job)

    assert_one_history(ssh_pool, job, places=3)


def test_a_gang_moves_as_a_whole(ssh_pool: SshPool, tmp_path: Path) -> None:
    job = counter(ssh_pool, tmp_path, "--nodes", "2")
    until(lambda: said(ssh_pool, job).count("goes from 0") == 2, "a node does not start")

    ssh_pool.run("jobs", "move", job, "--on", ON)
    moved(ssh_pool, job, ON)
    until(lambda: said(ssh_pool, job).count("goes from") == 4, "a node does not go on")

    text = said(ssh_pool, job)
    for rank in range(2):
        own = "\n".join(line for line in text.splitlines() if line.startswith(f"node-{rank}"))
        assert numbers(own, "goes from") == [0, *numbers(own, "saved")]
    assert len({host.name for host in ssh_pool.hosts_of(job).values()}) == 2
    ssh_pool.run("jobs", "cancel", job)


def test_a_server_that_is_killed_during_a_move_goes_on_with_it(
    ssh_pool: SshPool, tmp_path: Path
) -> None:
    job = counter(ssh_pool, tmp_path)

    ssh_pool.run("jobs", "move", job, "--on", ON)
    kill(ssh_pool.server_pid())
    moved(ssh_pool, job, ON)
    kill(ssh_pool.server_pid())
    steps_on(ssh_pool, job)

    text = said(ssh_pool, job)
    assert numbers(text, "goes from") == [0, *numbers(text, "saved")]
    ssh_pool.run("jobs", "cancel", job)
    until(lambda: ssh_pool.left_on_hosts(job) == [], "something of it is left")


def test_a_place_that_cannot_have_the_job_is_told_before_anything_stops(
    ssh_pool: SshPool, tmp_path: Path
) -> None:
    job = counter(ssh_pool, tmp_path)

    ssh_pool.run("jobs", "move", job, "--on", "ssh/nowhere", code=1)

    steps_on(ssh_pool, job)
    assert (ssh_pool.phase(job), numbers(said(ssh_pool, job), "saved")) == ("Running", [])


def test_a_job_that_waits_too_long_goes_to_the_next_place(ssh_pool: SshPool) -> None:
    """Every host and this machine are busy, and this machine is free first."""
    nodes = str(len(ssh_pool.hosts.hosts))
    busy = ssh_pool.submit_here("--nodes", nodes, "--cpus", "2", "--", "sleep", "1000")
    blocker = ssh_pool.submit("--oversubscribe", "--cpus", "1000", "--", "sleep", "1000")
    until(lambda: ssh_pool.phase(busy) == ssh_pool.phase(blocker) == "Running", "nothing runs")

    places = f"{ON},local"
    job = ssh_pool.submit("--on", places, "--max-wait", "0.5s", "--cpus", "1", "--", "hostname")
    until(lambda: ssh_pool.look(job)["spec"]["backend"] == "local", "it waits for the hosts")
    ssh_pool.run("jobs", "cancel", blocker)
    ssh_pool.run("jobs", "wait", job)

    assert "it has waited at ssh/test for 0.5 seconds" in ssh_pool.run("jobs", "events", job)
    until(lambda: ssh_pool.left_on_hosts(job) == [], "something of it is left")
    ssh_pool.run("jobs", "cancel", busy)
