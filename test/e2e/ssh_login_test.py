"""Ways to a host: an ordinary user, a jump host, and a key that nobody knows."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from environments import REPOSITORY, unavailable
from gate import Gate
from installation import TIMEOUT_S, TRAINWAY
from ssh_pool import CPUS, ON, POOL, SshPool, pool_of, until
from switch import UnavailableError

from ssh_hosts import ORDINARY, SshHosts

pytestmark = pytest.mark.xdist_group("ssh")


@pytest.fixture
def ordinary(tmp_path: Path) -> Iterator[SshPool]:
    """A pool of hosts on which the user is not root."""
    try:
        hosts = SshHosts(2, ORDINARY)
    except UnavailableError as error:
        unavailable(str(error))
    with hosts, pool_of(hosts, tmp_path / "home") as pool:
        yield pool


def test_an_ordinary_user_has_all_that_jobs_need(ordinary: SshPool) -> None:
    keys = [host.authorized_keys.read_text() for host in ordinary.hosts.hosts]
    task = ordinary.home / "task.yaml"
    (ordinary.home / "project").mkdir()
    (ordinary.home / "project" / "data").write_text("came along\n")
    meet = (
        'id -un; cat data; head=$(echo "$SKYPILOT_NODE_IPS" | head -1); '
        'python3 -c "import socket, sys; print(socket.gethostbyname(sys.argv[1]))" "$head"; '
        'uname -n > "$TRAINWAY_OUTPUT_DIR/$SKYPILOT_NODE_RANK"'
    )
    task.write_text(f"workdir: {ordinary.home}/project\nnum_nodes: 2\nrun: |\n  {meet}\n")

    printed = ordinary.run("run", str(task), "--on", ON)

    head = ordinary.hosts[0].address
    words = ("tester", "came along", head)
    assert sorted(printed.splitlines()) == sorted(
        f"node-{node} | {word}" for node in range(2) for word in words
    )
    status = ordinary.job("task")["status"]
    assert status["phase"] == "Succeeded"
    written = {path.name: path.read_text().strip() for path in Path(status["outputDir"]).iterdir()}
    assert written == {"0": "h0", "1": "h1"}
    job = ordinary.job("task")["metadata"]["id"]
    ordinary.run("jobs", "delete", job)
    until(lambda: ordinary.left_on_hosts(job) == [], "something is left")
    assert [host.authorized_keys.read_text() for host in ordinary.hosts.hosts] == keys


@pytest.fixture
def first_user(tmp_path: Path) -> Iterator[SshPool]:
    """A pool of one host with a GPU, on which root and another user have accounts."""
    try:
        hosts = SshHosts(1)
    except UnavailableError as error:
        unavailable(str(error))
    hosts[0].add_user(ORDINARY)
    with hosts, pool_of(hosts, tmp_path / "home") as pool:
        with_one_gpu(pool)
        yield pool


@pytest.fixture
def second_user(first_user: SshPool, tmp_path: Path) -> Iterator[SshPool]:
    """The same host, for a client that logs in as the other user."""
    with pool_of(first_user.hosts, tmp_path / "other") as pool:
        with_one_gpu(pool, "-o", f"User={ORDINARY.name}")
        yield pool


def with_one_gpu(pool: SshPool, *options: str) -> None:
    """Have each host of a pool lend out a GPU."""
    config = pool.home / "config.yaml"
    settings = yaml.safe_load(config.read_text())
    settings["pools"][POOL]["options"] += options
    for host in settings["pools"][POOL]["hosts"]:
        host["gpus"] = 1
    config.write_text(yaml.safe_dump(settings))


def test_users_with_different_logins_never_get_the_same(
    first_user: SshPool, second_user: SshPool, gate: Gate
) -> None:
    """Each has an agent on the host; what one gave away the other does not give."""
    everything = ["--cpus", str(CPUS), "--gpus", "1", "--name", "theirs"]
    first = first_user.submit_here(*everything, "--", *gate.command("theirs"))
    visitor = gate.next()
    who = ["id", "-un"]
    jobs = {
        what: second_user.submit_here(f"--{what}", "1", "--", *who) for what in ("gpus", "cpus")
    }

    by = f"in use: h0 by root@{os.uname().nodename} as root (job theirs: {CPUS} CPUs, GPU 0)"
    until(
        lambda: by in second_user.run("jobs", "show", jobs["gpus"]),
        "it does not say who has the host",
        said=lambda: second_user.run("jobs", "show", jobs["gpus"]),
    )
    assert not any(second_user.placed(job) for job in jobs.values())

    visitor.let_go()
    first_user.run("jobs", "wait", first)
    second_user.run("jobs", "wait", *jobs.values())
    for job in jobs.values():
        assert second_user.run("jobs", "logs", job) == f"node-0 | {ORDINARY.name}\n"
    host = first_user.hosts[0]
    until(
        lambda: ".json" not in host.run("ls", "/dev/shm"),
        "an agent says that something is held",
    )


@pytest.fixture
def behind_a_jump_host(ssh_pool: SshPool) -> Iterator[SshPool]:
    """A pool of one host that this machine reaches through another one only."""
    hosts = ssh_pool.hosts
    hosts.write_config("Host h1", "    ProxyJump h0")
    ssh_pool.configure([hosts[1]], {})
    yield ssh_pool
    hosts.write_config()


def test_a_jump_host_is_used_as_ssh_is_told(behind_a_jump_host: SshPool) -> None:
    jump, host, *_ = behind_a_jump_host.hosts.hosts
    before = len(host.log)

    printed = behind_a_jump_host.run("run", "--on", ON, "--", "uname", "-n")

    assert printed == f"node-0 | {host.name}\n"
    assert set(re.findall(r"Accepted publickey for root from (\S+)", host.log[before:])) == {
        jump.address
    }


@pytest.fixture
def stranger(ssh_pool: SshPool) -> Iterator[SshPool]:
    """A pool of one host whose key is not the one that was known."""
    host = ssh_pool.hosts[0]
    host.renew_key()
    host.restart_sshd()
    ssh_pool.configure([host], {})
    yield ssh_pool
    ssh_pool.hosts.trust_keys()


def test_a_host_with_another_key_is_refused(stranger: SshPool) -> None:
    job = stranger.submit_here("--", "true")

    stranger.run("jobs", "wait", job, code=4)
    shown = stranger.run("jobs", "show", job)
    assert re.search(r"h0: its host key (is not known|has changed).* \(.*ssh", shown), shown
    assert "Traceback" not in shown
    doctor = subprocess.run(
        [str(TRAINWAY), "doctor"],
        cwd=REPOSITORY,
        env=stranger.environ(),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert re.search(r"h0.*host key", doctor.stdout), doctor.stdout
    assert doctor.returncode == 1
    launch = ("launch", "-y", "-c", "dev", "--infra", ON, "true")
    process = stranger.start(*launch)
    printed, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1, printed
    assert f"no host of {ON} can be used: h0: its host key" in printed

    stranger.hosts.trust_keys()
    assert "| yes\n" in stranger.run("run", "--on", ON, "--", "echo", "yes")
