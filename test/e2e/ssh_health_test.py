"""The health check of a gang, on SSH hosts of which one is really broken."""

import contextlib
from collections.abc import Iterator

import pytest
import yaml
from patience import until
from ssh_pool import ON, SshPool

from ssh_hosts import Host
from trainway.jobset.labels import HEALTH_CHECK
from trainway.json_types import Json

pytestmark = pytest.mark.xdist_group("ssh")


def aside(pool: SshPool) -> dict[str, str]:
    """Why hosts are set aside, by their names."""
    (place,) = pool.json("nodes", "list", "--on", ON)
    return {node["name"]: node["drained"] for node in place["nodes"] if node["drained"]}


def ended(pool: SshPool, job: str) -> Json:
    """What became of a job that goes well in the end; its restarts did not count."""
    pool.run("jobs", "wait", job)
    status: Json = pool.job(job)["status"]
    assert [each["counts"] for each in status["endedAttempts"]] == [False] * status["restarts"]
    assert {each["reason"] for each in status["endedAttempts"]} <= {"NodeLost"}
    return status


@contextlib.contextmanager
def full_disk(host: Host) -> Iterator[None]:
    """Have almost no room for jobs on a host."""
    folder = host.home / ".trainway"
    folder.mkdir(exist_ok=True)
    host.run("mount", "-t", "tmpfs", "-o", "size=32m", "trainway-test", str(folder))
    try:
        yield
    finally:
        host.run("umount", "--lazy", str(folder))


@contextlib.contextmanager
def alone(host: Host, others: list[Host]) -> Iterator[None]:
    """Let a host reach none of the others, though this machine reaches all of them."""
    for other in others:
        host.run("ip", "route", "add", "blackhole", other.address)
    try:
        yield
    finally:
        for other in others:
            host.run("ip", "route", "del", "blackhole", other.address)


def test_a_healthy_gang_loses_no_time(ssh_pool: SshPool) -> None:
    job = ssh_pool.submit_here("--health-check", "--nodes", "4", "--", "true")
    assert ended(ssh_pool, job)["restarts"] == 0
    (said,) = (
        each["message"]
        for each in ssh_pool.journal(job)
        if each["type"] == "event" and each["reason"] == "HealthChecked"
    )
    assert said.startswith("disk, network of 4 nodes: all well after ")
    assert aside(ssh_pool) == {}


def test_a_host_with_a_full_disk_is_named_and_left_out(ssh_pool: SshPool) -> None:
    with full_disk(ssh_pool.hosts[1]):
        ssh_pool.run("run", "--on", ON, "--nodes", "4", "--", "true")  # all hosts are there
        job = ssh_pool.submit_here("--health-check", "--nodes", "3", "--", "true")
        status = ended(ssh_pool, job)
        assert status["restarts"] == 1
        assert {node["host"] for node in status["nodes"]} == {"h0", "h2", "h3"}
        assert status["endedAttempts"][0]["host"] == "h1"
        printed = ssh_pool.run("jobs", "show", job)
        assert "host h1 failed its health check: the disk of" in printed
        assert "MiB are free" in aside(ssh_pool)["h1"]


def test_a_host_that_the_others_do_not_reach_is_named_and_left_out(ssh_pool: SshPool) -> None:
    hosts = list(ssh_pool.hosts.hosts)
    ssh_pool.run("run", "--on", ON, "--nodes", "4", "--", "true")
    with alone(hosts[2], [*hosts[:2], hosts[3]]):
        words = ("run", "--dry-run", "--on", ON, "--health-check", "--nodes", "3", "--", "true")
        text = ssh_pool.run(*words)
        hurried = text.replace(f'{HEALTH_CHECK}: "true"', f'{HEALTH_CHECK}: "5"')
        assert hurried != text
        job = ssh_pool.run("run", "-d", "--on", ON, "-", text=hurried).split()[1]
        status = ended(ssh_pool, job)
    assert {node["host"] for node in status["nodes"]} == {"h0", "h1", "h3"}
    assert list(aside(ssh_pool)) == ["h2"]
    assert "do not reach each other over the network" in aside(ssh_pool)["h2"]


def answer_for_gpus(host: Host, words: str) -> None:
    program = host.home / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{words}\n")
    program.chmod(0o755)


def test_a_job_waits_for_a_host_whose_gpus_do_not_answer(ssh_pool: SshPool) -> None:
    for host in ssh_pool.hosts.hosts:
        answer_for_gpus(host, "echo '0, GPU-1, 0'")
    answer_for_gpus(ssh_pool.hosts[0], "echo 'No devices were found'; exit 6")
    config = ssh_pool.home / "config.yaml"
    pools = yaml.safe_load(config.read_text())
    for host, settings in zip(ssh_pool.hosts.hosts, pools["pools"]["test"]["hosts"], strict=True):
        settings |= {"gpus": 1, "env": {"PATH": f"{host.home}:/usr/bin:/bin"}}
    config.write_text(yaml.safe_dump(pools))
    job = ssh_pool.submit_here("--health-check", "--nodes", "4", "--gpus", "1", "--", "true")
    said = "its health check failed: nvidia-smi exited with 6: No devices were found"
    until(lambda: aside(ssh_pool) == {"h0": said}, "the host is not set aside")
    why = f"it is set aside: {said}"
    until(lambda: why in ssh_pool.run("jobs", "show", job), "nobody says why it waits")

    answer_for_gpus(ssh_pool.hosts[0], "echo '0, GPU-1, 0'")
    ssh_pool.run("nodes", "undrain", "h0", "--on", ON)
    assert ended(ssh_pool, job)["restarts"] == 1
