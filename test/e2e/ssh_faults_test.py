"""What goes wrong with agents and servers while jobs run on hosts: nothing is lost or doubled."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from environments import REPOSITORY
from gate import CHATTER, Gate
from host_gate import process_of
from host_processes import HostProcess
from installation import TIMEOUT_S, kill
from patience import until
from ssh_pool import ON, SshPool, host_agent, host_agents

from ssh_hosts import Host

LINE: Final = re.compile(r"(\S+) line (\d+)")
WROTE: Final = re.compile(r"(\S+) wrote (\d+) lines")
NODES: Final = 4

pytestmark = pytest.mark.xdist_group("ssh")


def test_a_killed_pool_agent_loses_no_line_and_no_process(ssh_pool: SshPool, gate: Gate) -> None:
    job = ssh_pool.submit_here("--nodes", str(NODES), "--", *gate.command("node", program=CHATTER))
    visitors = [gate.next() for _ in range(NODES)]
    watching = ssh_pool.follow_logs(job)
    assert watching.stdout is not None
    assert watching.stdout.readline() != ""

    first = ssh_pool.pool_agent()
    first.kill()
    ssh_pool.run("jobs", "show", job)
    until(lambda: len(ssh_pool.pool_agents()) == 1, "no new pool agent")

    assert all(process_of(visitor).is_alive for visitor in visitors)
    for visitor in visitors:
        visitor.let_go()
    ssh_pool.run("jobs", "wait", job)
    status = ssh_pool.job(job)["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 0)
    assert gate.nobody_waits()
    assert_complete(ssh_pool.run("jobs", "logs", job), NODES)
    watching.communicate(timeout=TIMEOUT_S)


def test_a_killed_server_is_missed_by_nobody(ssh_pool: SshPool, gate: Gate) -> None:
    job = ssh_pool.submit_here("--nodes", str(NODES), "--", *gate.command("node", program=CHATTER))
    visitors = [gate.next() for _ in range(NODES)]
    agent = ssh_pool.pool_agent()

    kill(ssh_pool.server_pid())
    for visitor in visitors:
        visitor.let_go()
    ssh_pool.run("jobs", "wait", job)

    assert agent.is_alive
    assert ssh_pool.phase(job) == "Succeeded"
    assert gate.nobody_waits()
    assert_complete(ssh_pool.run("jobs", "logs", job), NODES)


def test_a_server_and_a_pool_agent_that_die_together_come_back(
    ssh_pool: SshPool, gate: Gate
) -> None:
    job = ssh_pool.submit_here("--nodes", "2", "--", *gate.command("node", program=CHATTER))
    visitors = [gate.next() for _ in range(2)]

    kill(ssh_pool.server_pid())
    ssh_pool.pool_agent().kill()
    for visitor in visitors:  # while nobody of ours runs on this machine
        visitor.let_go()
    for visitor in visitors:
        assert visitor.connection.recv(1) == b""
    ssh_pool.run("jobs", "wait", job)

    assert ssh_pool.phase(job) == "Succeeded"
    assert gate.nobody_waits()
    assert_complete(ssh_pool.run("jobs", "logs", job), 2)


def test_a_killed_host_agent_restarts_the_gang(ssh_pool: SshPool, gate: Gate) -> None:
    job = ssh_pool.submit_here("--nodes", "2", "--", *gate.command("node", program=CHATTER))
    first = [process_of(gate.next()) for _ in range(2)]
    host = next(iter(ssh_pool.hosts_of(job).values()))

    host_agent(host).kill()
    second = [gate.next() for _ in range(2)]

    assert not any(process.is_alive for process in first)
    assert len(host_agents(host)) == 1
    for visitor in second:
        visitor.let_go()
    ssh_pool.run("jobs", "wait", job)
    status = ssh_pool.job(job)["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 1)
    assert gate.nobody_waits()
    assert_complete(ssh_pool.run("jobs", "logs", job), 2)


def test_a_host_that_loses_power_is_done_without(ssh_pool: SshPool, gate: Gate) -> None:
    job = ssh_pool.submit_here("--pack", "--nodes", str(NODES), "--", *gate.command("node"))
    first = [gate.next() for _ in range(NODES)]
    off = ssh_pool.hosts[2]

    off.halt()
    second = [gate.next() for _ in range(NODES)]
    off.boot()

    assert off not in ssh_pool.hosts_of(job).values()
    assert {visitor.env["TRAINWAY_FENCING_TOKEN"] for visitor in first} == {"1"}
    assert {visitor.env["TRAINWAY_FENCING_TOKEN"] for visitor in second} == {"2"}
    for visitor in second:
        visitor.let_go()
    ssh_pool.run("jobs", "wait", job)
    status = ssh_pool.job(job)["status"]
    assert (status["phase"], status["restarts"]) == ("Succeeded", 1)
    ssh_pool.run("jobs", "delete", job)
    until(lambda: ssh_pool.left_on_hosts(job) == [], "something is left")


def test_an_upgrade_takes_over_what_runs(ssh_pool: SshPool, gate: Gate, tmp_path: Path) -> None:
    """Agents of hosts with pods stay as they are; those that have nothing to do make way."""
    upgraded = replace(ssh_pool, variables={"PYTHONPATH": str(another_version(tmp_path))})
    job = ssh_pool.submit_here("--nodes", "2", "--", *gate.command("node", program=CHATTER))
    visitors = [gate.next() for _ in range(2)]
    host, *_ = ssh_pool.hosts_of(job).values()
    old = host_agent(host)

    ssh_pool.run("server", "stop")
    ssh_pool.pool_agent().kill()
    upgraded.run("run", "--on", ON, "--nodes", "4", "--", "true")
    assert host_agent(host) == old
    for visitor in visitors:
        visitor.let_go()
    upgraded.run("jobs", "wait", job)
    upgraded.run("server", "stop")
    upgraded.pool_agent().kill()
    until(lambda: len(connections(host)) == 0, "the last connection does not end")
    upgraded.run("run", "--on", ON, "--nodes", "4", "--", "true")

    assert upgraded.job(job)["status"]["restarts"] == 0
    assert_complete(upgraded.run("jobs", "logs", job), 2)
    until(lambda: not old.is_alive, "the old agent stays")
    until(lambda: len(host_agents(host)) == 1, "there is not one new agent")
    assert host_agent(host).words[1] != old.words[1]


def another_version(folder: Path) -> Path:
    """A folder with this package, changed a little."""
    ignored = shutil.ignore_patterns("__pycache__", "*_test.py")
    shutil.copytree(REPOSITORY / "src", folder / "src", ignore=ignored)
    with (folder / "src" / "trainway" / "agent" / "__init__.py").open("a") as file:
        file.write("\n# another version\n")
    return folder / "src"


def connections(host: Host) -> list[HostProcess]:
    """The programs on a host that speak for a pool agent."""
    agents = {agent.pid for agent in host_agents(host)}
    return [each for each in host.processes() if "connect" in each.words and each.pid not in agents]


def assert_complete(printed: str, nodes: int) -> None:
    """Each process wrote its numbered lines once, in order, and said at last how many."""
    pods = dict[str, list[int]]()
    for line in printed.splitlines():
        pod, _, text = line.partition(" | ")
        found = LINE.search(text)
        if found:
            pods.setdefault(pod, []).append(int(found[2]))
    counts = {
        line.partition(" | ")[0]: int(found[2])
        for line in printed.splitlines()
        if (found := WROTE.search(line))
    }
    assert len(counts) == nodes, printed[-2000:]
    assert {pod: len(numbers) for pod, numbers in pods.items()} == counts
    assert all(numbers == list(range(len(numbers))) for numbers in pods.values())
