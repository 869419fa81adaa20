"""Cables that are pulled while a job runs: exactly one attempt wins, and the stale one stops."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from environments import REPOSITORY, TORCH, environment
from gate import Gate
from host_gate import process_of
from patience import until
from ssh_pool import SshPool, pool_of

from ssh_hosts import Host, SshHosts

EPOCHS: Final = 6
CUT_IN_EPOCH: Final = 4
EPOCH: Final = re.compile(r"(?:epoch (\d+)/\d+ loss|resuming after epoch (\d+))")
LOOKS: Final = 12

pytestmark = pytest.mark.xdist_group("ssh")


def test_exactly_one_attempt_wins_when_a_host_is_cut_off(ssh_pool: SshPool, gate: Gate) -> None:
    hosts = ssh_pool.hosts
    job = ssh_pool.submit_here("--pack", "--nodes", "4", "--", *gate.command("node"))
    first = [gate.next() for _ in range(4)]
    lost = list(ssh_pool.hosts_of(job).values())[-1]
    processes = [process_of(visitor) for visitor in first]
    there = {each.pid for each in lost.processes()}
    (stale,) = (each for each in processes if each.pid in there)

    hosts.cut(lost)
    started = time.monotonic()
    until(lambda: not stale.is_alive or not gate.nobody_waits(), "the stale attempt goes on")
    assert not stale.is_alive, "the next attempt began before the stale one had stopped"
    stopped_s = time.monotonic() - started
    second = [gate.next() for _ in range(4)]
    recovered_s = time.monotonic() - started

    assert not any(each.is_alive for each in processes)
    assert lost not in ssh_pool.hosts_of(job).values()
    assert {visitor.env["TRAINWAY_FENCING_TOKEN"] for visitor in second} == {"2"}
    for visitor in second:
        visitor.let_go()
    ssh_pool.run("jobs", "wait", job)
    hosts.heal(lost)

    status = ssh_pool.job(job)["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 1)
    assert status["jobSet"].get("restartsCountTowardsMax", 0) == 0
    assert gate.nobody_waits()
    records = ssh_pool.journal(job)
    assert [each["type"] for each in records].count("end") == 1
    until(lambda: ssh_pool.left_on_hosts(job) == [], "something stale is left")
    print(f"stopped after {stopped_s:.1f} s, again at work after {recovered_s:.1f} s")  # noqa: T201


def test_hosts_that_reach_each_other_wait_for_a_machine_that_sleeps(
    ssh_pool: SshPool, gate: Gate
) -> None:
    hosts = ssh_pool.hosts
    job = ssh_pool.submit_here("--nodes", "4", "--", *gate.command("node"))
    visitors = [gate.next() for _ in range(4)]
    before = [probes(host) for host in hosts.hosts]

    hosts.cut_this_machine()
    # Each looks for the three others every second: that lasts twice as long as a lease.
    enough = [then + 3 * LOOKS for then in before]
    until(
        lambda: all(
            probes(host) > so_many for host, so_many in zip(hosts.hosts, enough, strict=True)
        ),
        "the hosts do not look for each other",
    )
    assert all(process_of(visitor).is_alive for visitor in visitors)
    hosts.heal_this_machine()
    for visitor in visitors:
        visitor.let_go()
    ssh_pool.run("jobs", "wait", job)

    status = ssh_pool.job(job)["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 0)
    assert ssh_pool.run("jobs", "logs", job).count("through the gate") == 4


@pytest.fixture
def torch(ssh_hosts: SshHosts, tmp_path: Path) -> Iterator[SshPool]:
    imports = os.pathsep.join(str(REPOSITORY / name) for name in ("examples", "test/e2e"))
    variables = environment(*TORCH).variables()
    with pool_of(ssh_hosts, tmp_path / "torch", variables, {"PYTHONPATH": imports}) as pool:
        yield pool


def test_training_goes_on_from_its_checkpoint_on_other_hosts(torch: SshPool, gate: Gate) -> None:
    """The host that is cut off is the one that wrote the checkpoint."""
    gang = ["--nodes", "2", "--procs-per-node", "1", "--env", "OMP_NUM_THREADS=1"]
    program = ["test/e2e/paced_ddp.py", "--", gate.path, str(CUT_IN_EPOCH), "--epochs", str(EPOCHS)]
    job = torch.submit_here(*gang, *program)
    gate.next()  # both ranks are in the middle of an epoch
    lost, *_ = torch.hosts_of(job).values()
    (original,) = lost.home.rglob(f"{job}/output/checkpoint.pt")
    copy = torch.home / "jobs" / job / "output" / "checkpoint.pt"
    written = original.read_bytes()
    until(lambda: copy.exists() and copy.read_bytes() == written, "no checkpoint comes")

    torch.hosts.cut(lost)
    started = time.monotonic()
    until(lambda: running(lost, job) == [], "the stale attempt goes on")
    stopped_s = time.monotonic() - started
    torch.run("jobs", "wait", job)
    ended_s = time.monotonic() - started
    assert lost not in torch.hosts_of(job).values()
    torch.hosts.heal(lost)

    status = torch.job(job)["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 1)
    printed = torch.run("jobs", "logs", job, "--all-attempts")
    chain = [int(first or second) for first, second in EPOCH.findall(printed)]
    cut = CUT_IN_EPOCH - 1
    assert chain == [*range(1, cut + 1), cut, *range(cut + 1, EPOCHS + 1)], printed
    assert f"resuming after epoch {cut}" in printed
    until(lambda: torch.left_on_hosts(job) == [], "something stale is left")
    print(f"stopped after {stopped_s:.1f} s, trained after {ended_s:.1f} s")  # noqa: T201


def running(host: Host, job: str) -> list[int]:
    return [each.pid for each in host.processes() if each.job == job]


def probes(host: Host) -> int:
    """How often somebody turned to the sshd of a host."""
    return host.log.count("Connection from")
