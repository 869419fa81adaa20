"""`trainway jobs move` with real hosts: one job, one history, no step lost after a checkpoint."""

import re
from pathlib import Path
from typing import Final

import pytest
from installation import kill, processes_of
from patience import until
from ssh_pool import ON, SshPool

pytestmark = pytest.mark.xdist_group("ssh")

SCRIPT: Final = """
import os
import pathlib
import signal
import sys
import time

from helper import word

out = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"])
checkpoint = out / f"step-{os.environ.get('JOB_COMPLETION_INDEX', 0)}"
step = int(checkpoint.read_text()) if checkpoint.exists() else 0
print(word, "from", step, "on", os.uname().nodename)


def save(*_):
    checkpoint.with_suffix(".new").write_text(str(step))
    checkpoint.with_suffix(".new").rename(checkpoint)
    print("saved", step)
    sys.exit(0)


signal.signal(signal.SIGTERM, save)
while step < int(sys.argv[1]) or not (out / "stop").exists():
    step += 1
    print("step", step)
    time.sleep(0.05)
"""


def numbers(text: str, word: str) -> list[int]:
    return [int(found) for found in re.findall(rf"{word} (\d+)", text)]


def said(pool: SshPool, job: str) -> str:
    return pool.run("jobs", "logs", job, "--all-attempts")


def here(pool: SshPool, job: str) -> list[int]:
    """What runs of a job on this machine itself, which also sees the processes of its hosts."""
    found = processes_of(job)
    on_hosts = {each.pid for each in pool.hosts.processes()}
    return [pid for pid in found if pid not in on_hosts]


def moved(pool: SshPool, job: str, place: str) -> None:
    """Wait until a job goes on at a place."""

    def is_there() -> bool:
        shown = pool.look(job)
        where = (shown["spec"]["backend"], shown["status"]["phase"])
        return where == (place, "Running") and "move" not in shown["status"]

    until(is_there, f"the job does not go on at {place}")


def steps_on(pool: SshPool, job: str) -> None:
    """Wait until a job makes steps beyond its last checkpoint."""
    last = max(numbers(said(pool, job), "saved"), default=0)
    until(lambda: max(numbers(said(pool, job), "step"), default=0) > last, "it makes no steps")


def counter(pool: SshPool, folder: Path, *options: str) -> str:
    """A job of this machine that counts, from its checkpoint on."""
    (folder / "train.py").write_text(SCRIPT)
    (folder / "helper.py").write_text("word = 'goes'")
    script = str(folder / "train.py")
    job = pool.submit(script, "--name", "counter", *options, "--", "5")
    steps_on(pool, job)
    return job


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

    text = said(ssh_pool, job)
    begun = numbers(text, "goes from")
    assert begun == [0, *numbers(text, "saved")]
    steps = numbers(text, "step")
    assert steps == list(range(1, len(steps) + 1))
    shown = ssh_pool.job(job)
    assert (shown["metadata"]["id"], shown["status"]["restarts"]) == (job, 0)
    reasons = re.findall(r"Moving|Moved", ssh_pool.run("jobs", "events", job))
    assert reasons == ["Moving", "Moved"] * 2


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
