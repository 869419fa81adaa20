"""Jobs that wait for a place on the hosts: in order, and no host idles while one waits."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from gate import Gate
from installation import TIMEOUT_S, TRAINWAY, kill
from ssh_pool import CPUS, ON, SshPool, host_agent, pool_of, until

QUEUED: Final = 200

pytestmark = pytest.mark.xdist_group("ssh")


def test_two_hundred_jobs_start_in_the_order_they_came(ssh_pool: SshPool, gate: Gate) -> None:
    everything = ["--nodes", "4", "--cpus", str(CPUS)]
    first = ssh_pool.submit_here(*everything, "--", *gate.command("first"))
    visitors = [gate.next() for _ in range(4)]
    jobs = submitted(ssh_pool, QUEUED)
    until(
        lambda: {ssh_pool.phase(jobs[0]), ssh_pool.phase(jobs[-1])} <= {"Queued", "Pending"},
        "they do not wait",
    )

    for visitor in visitors:
        visitor.let_go()
    ssh_pool.run("jobs", "wait", first, *jobs)

    began = [placement_time(ssh_pool, job) for job in jobs]
    assert began == sorted(began)
    used = {name for job in jobs for name in ssh_pool.placements(job)[0].values()}
    assert used == {host.name for host in ssh_pool.hosts.hosts}


def test_a_gang_that_waits_says_what_for(ssh_pool: SshPool, gate: Gate) -> None:
    holder = ssh_pool.submit_here("--cpus", str(CPUS), "--", *gate.command("holder"))
    visitor = gate.next()
    gang = ssh_pool.submit_here("--nodes", "4", "--cpus", str(CPUS), "--", *gate.command("gang"))

    until(lambda: "position" in ssh_pool.run("jobs", "show", gang), "it has no place in the queue")
    assert ssh_pool.phase(gang) in {"Queued", "Pending"}
    visitor.let_go()
    gangs = [gate.next() for _ in range(4)]

    assert sorted(set(ssh_pool.placements(gang)[0].values())) == ["h0", "h1", "h2", "h3"]
    for each in gangs:
        each.let_go()
    ssh_pool.run("jobs", "wait", holder, gang)


def test_a_job_that_fits_nowhere_is_refused(ssh_pool: SshPool) -> None:
    done = subprocess.run(
        [str(TRAINWAY), "run", "--on", ON, "--cpus", "64", "--", "true"],
        env=ssh_pool.environ(),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "64" in done.stderr


def test_every_node_is_a_host_of_its_own(ssh_pool: SshPool, gate: Gate) -> None:
    busy = ssh_pool.submit_here("--nodes", "3", "--cpus", str(CPUS), "--", *gate.command("busy"))
    visitors = [gate.next() for _ in range(3)]
    pair = ssh_pool.submit_here("--nodes", "2", "--cpus", "1", "--", "true")
    until(
        lambda: (
            "it asks for 2 nodes with 1 CPU each, and 1 of 4 has that much free"
            in ssh_pool.run("jobs", "show", pair)
        ),
        "two nodes are put on the host that is left",
    )
    packed = ssh_pool.submit_here("--pack", "--nodes", "9", "--", "true")
    ssh_pool.run("jobs", "wait", packed)
    for visitor in visitors:
        visitor.let_go()
    ssh_pool.run("jobs", "wait", busy)
    ssh_pool.run("jobs", "wait", pair)
    assert len({host.name for host in ssh_pool.hosts_of(pair).values()}) == 2

    refused = ssh_pool.start("run", "--on", ON, "--nodes", "9", "--", "true")
    printed, _ = refused.communicate(timeout=TIMEOUT_S)
    assert refused.returncode == 1, printed
    assert f"it asks for 9 nodes, and {ON} has 4 hosts; --pack puts several" in printed


def test_two_clients_share_the_hosts_without_taking_the_same_twice(
    ssh_pool: SshPool, gate: Gate, tmp_path: Path
) -> None:
    everything = ["--nodes", "4", "--cpus", str(CPUS)]
    first = ssh_pool.submit_here("--name", "theirs", *everything, "--", *gate.command("theirs"))
    visitors = [gate.next() for _ in range(4)]
    with pool_of(ssh_pool.hosts, tmp_path / "other") as other:
        second = other.submit_here("--cpus", "1", "--", *gate.command("ours"))
        until(
            lambda: f"(job theirs: {CPUS} CPUs)" in other.run("jobs", "show", second),
            "it does not say who has the hosts",
        )
        kill(ssh_pool.server_pid())
        ssh_pool.pool_agent().kill()
        host_agent(ssh_pool.hosts[3]).kill()  # it forgets nothing, though its pods die
        third = other.submit_here("--nodes", "4", "--cpus", str(CPUS), "--", "true")
        until(lambda: "in use: " in other.run("jobs", "show", third), "it does not wait")
        assert not other.placed(third)

        other.run("jobs", "cancel", third)
        ssh_pool.run("jobs", "cancel", first)
        while (visitor := gate.next()).name != "ours":
            pass  # one of the first job, which was starting again when it was cancelled
        visitor.let_go()
        other.run("jobs", "wait", second)
    assert len(visitors) == 4


def test_a_host_that_is_down_at_first_is_used_when_it_comes(ssh_pool: SshPool, gate: Gate) -> None:
    late = ssh_pool.hosts[3]
    late.halt()
    try:
        alone = ssh_pool.submit_here("--nodes", "2", "--", *gate.command("alone"))
        for visitor in [gate.next() for _ in range(2)]:
            visitor.let_go()
        ssh_pool.run("jobs", "wait", alone)
        assert late not in ssh_pool.hosts_of(alone).values()
        gang = ssh_pool.submit_here("--nodes", "4", "--cpus", str(CPUS), "--", "true")
        until(
            lambda: "h3" in ssh_pool.run("jobs", "show", gang), "it does not say what it waits for"
        )
    finally:
        late.boot()

    ssh_pool.run("jobs", "wait", gang)
    assert late in ssh_pool.hosts_of(gang).values()


def submitted(pool: SshPool, count: int) -> list[str]:
    """Jobs that take a whole host each, in their order."""
    code = f"""
from trainway import Client
client = Client()
for number in range({count}):
    print(client.run({one_line_job()!r}, on={ON!r}).id)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=pool.environ(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def one_line_job() -> dict[str, Any]:
    container = {
        "name": "node",
        "command": ["true"],
        "resources": {"requests": {"cpu": str(CPUS)}},
    }
    pod = {"restartPolicy": "Never", "containers": [container]}
    job = {"backoffLimit": 0, "template": {"spec": pod}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "queued"},
        "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": job}}]},
    }


def placement_time(pool: SshPool, job: str) -> str:
    record = next(each for each in pool.journal(job) if each["type"] == "placement")
    return str(record["time"])
