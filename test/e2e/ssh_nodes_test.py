"""Nodes that are set aside, and why attempts ended, on real SSH hosts."""

import pytest
from gate import Gate
from installation import kill
from patience import until
from ssh_pool import ON, SshPool

from trainway.json_types import Json

pytestmark = pytest.mark.xdist_group("ssh")


def nodes(pool: SshPool) -> dict[str, Json]:
    (place,) = pool.json("nodes", "list", "--on", ON)
    return {node["name"]: node for node in place["nodes"]}


def test_a_drained_host_takes_no_new_pods_whoever_dies(ssh_pool: SshPool) -> None:
    said = ssh_pool.run("nodes", "drain", "h1", "--on", ON, "--reason", "its fan is loud")
    assert said == "h1 of ssh/test is set aside: its fan is loud\n"
    kill(ssh_pool.server_pid())
    for agent in ssh_pool.pool_agents():
        agent.kill()

    printed = ssh_pool.run("nodes", "list", "--on", ON)
    job = ssh_pool.submit("--on", ON, "--nodes", "3", "--", "true")
    ssh_pool.run("jobs", "wait", job)
    hosts = {node["host"] for node in ssh_pool.job(job)["status"]["nodes"]}
    ssh_pool.run("nodes", "undrain", "h1", "--on", ON)
    again = ssh_pool.submit("--on", ON, "--nodes", "4", "--", "true")
    ssh_pool.run("jobs", "wait", again)

    assert "its fan is loud" in next(line for line in printed.splitlines() if " h1 " in line)
    assert hosts == {"h0", "h2", "h3"}
    assert nodes(ssh_pool)["h1"]["drained"] == ""
    assert len({node["host"] for node in ssh_pool.job(again)["status"]["nodes"]}) == 4


def test_a_host_that_is_not_there_is_named(ssh_pool: SshPool) -> None:
    ssh_pool.run("nodes", "drain", "h9", "--on", ON, code=3)
    ssh_pool.run("nodes", "drain", "here", "--on", "local", code=1)


def test_a_lost_host_is_the_cause_and_does_not_count(ssh_pool: SshPool, gate: Gate) -> None:
    job = ssh_pool.submit_here("--restarts", "1", "--nodes", "2", "--", *gate.command("node"))
    first = [gate.next() for _ in range(2)]
    off = next(iter(ssh_pool.hosts_of(job).values()))
    off.halt()
    second = [gate.next() for _ in range(2)]
    off.boot()
    second[0].let_go(9)
    third = [gate.next() for _ in range(2)]
    for visitor in third:
        visitor.let_go()
    ssh_pool.run("jobs", "wait", job)

    ended = ssh_pool.job(job)["status"]["endedAttempts"]
    told = [(each["reason"], each["counts"]) for each in ended]
    assert told == [("NodeLost", False), ("ExitCode", True)]
    assert ended[0]["host"] == off.name
    assert nodes(ssh_pool)[off.name]["failures"]["NodeLost"] == 1
    assert len(first) == 2


def test_a_host_that_is_lost_three_times_is_set_aside(ssh_pool: SshPool, gate: Gate) -> None:
    """The gang needs every host, so that it comes back to the one that was lost."""
    job = ssh_pool.submit_here("--nodes", "4", "--", *gate.command("node"))
    off = ssh_pool.hosts[2]
    for _ in range(3):
        for _ in range(4):
            gate.next()
        off.halt()
        until(lambda: ssh_pool.phase(job) == "Restarting", "the loss is not noticed")
        off.boot()
    until(lambda: nodes(ssh_pool)[off.name]["drained"], "the host is not set aside")
    node = nodes(ssh_pool)[off.name]
    ssh_pool.run("nodes", "undrain", off.name, "--on", ON)
    for visitor in [gate.next() for _ in range(4)]:
        visitor.let_go()
    ssh_pool.run("jobs", "wait", job)

    assert node["drained"].startswith("it lost 3 attempts of a job within an hour")
    assert node["failures"] == {"NodeLost": 3}
    assert ssh_pool.job(job)["status"]["restarts"] == 3
