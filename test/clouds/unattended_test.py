"""Rented machines whose server is killed and does not come back shut themselves down."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from installation import Installation, kill
from moto_cloud import MotoCloud
from patience import until
from renting_user import renting_user

from ssh_hosts import Host, SshHosts

pytestmark = pytest.mark.xdist_group("ssh")
MARK: Final = "shut-down"
MINUTES: Final = 0.05
"""How long machines of this test wait for their server: 3 seconds."""
LONGER: Final = 'sleep 9; touch "$HOME/ended"'
"""What runs on for three times as long."""


@pytest.fixture
def user(paired_cloud: MotoCloud, tmp_path: Path) -> Iterator[Installation]:
    """Somebody whose machines write a file where others shut down."""
    settings = {"unattended_minutes": MINUTES, "shutdown_command": f'touch "$HOME/{MARK}"'}
    with renting_user(paired_cloud, tmp_path, settings=settings) as made:
        yield made


def host_of(cloud: MotoCloud, hosts: SshHosts) -> tuple[str, Host]:
    """The only machine there is, and its host."""
    (machine,) = cloud.living()
    return machine["id"], next(each for each in hosts.hosts if each.address == machine["address"])


def die(user: Installation) -> None:
    """Let the machine of the server die: the server, and the agents that run beside it."""
    kill(user.server_pid())
    for path in (user.home / "pools").glob("cloud+*/agent.json"):
        with contextlib.suppress(ProcessLookupError):
            kill(int(json.loads(path.read_text())["pid"]))


def rule_of(agent: Path) -> float:
    """How long a machine waits, as it has it on its disk."""
    file = agent / "unattended.json"
    return float(json.loads(file.read_text())["seconds"]) if file.exists() else 0.0


def test_a_cluster_with_autostop_stops_without_its_server(
    user: Installation, paired_cloud: MotoCloud, ssh_hosts: SshHosts
) -> None:
    program = f'touch "$HOME/begun"; until [ -e "$HOME/gate" ]; do sleep 0.1; done; {LONGER}'
    options = ["-c", "dev", "--infra", "aws", "--cpus", "2", "-i", "0"]
    user.run("launch", "-y", "-d", *options, program)
    until(lambda: len(paired_cloud.living()) == 1, "there is no machine")
    machine, host = host_of(paired_cloud, ssh_hosts)
    until((host.home / "begun").exists, "it does not run")
    agent = next((host.home / ".trainway" / "host").iterdir())
    until(lambda: rule_of(agent) == MINUTES * 60, "the machine does not know when to go")

    die(user)
    (host.home / "gate").touch()
    until((host.home / MARK).exists, "it does not shut down")
    ended, shut_down = (host.home / "ended").stat(), (host.home / MARK).stat()
    assert shut_down.st_mtime_ns > ended.st_mtime_ns, "a job still ran"
    assert "no server was heard" in (agent / "host.log").read_text()

    assert paired_cloud.shut_down(machine) == "stopped"
    reason = f"(they shut themselves down when no server is heard for {MINUTES:g} minutes)"
    until(
        lambda: user.json("status")["items"][0]["status"]["message"].endswith(reason),
        "the next server does not say what has become of them",
        said=lambda: str(user.json("status")),
    )
    assert user.json("status")["items"][0]["status"]["phase"] == "STOPPED"


def test_a_machine_of_a_job_ends_without_its_server(
    user: Installation, paired_cloud: MotoCloud, ssh_hosts: SshHosts
) -> None:
    job = user.submit("--on", "aws", "--cpus", "2", "--", "sleep", "600")
    until(lambda: user.phase(job) == "Running", "it does not run")
    machine, host = host_of(paired_cloud, ssh_hosts)
    kill(user.server_pid())  # the agent of the pool goes on: it is no server
    for process in host.processes():
        if process.words[:2] == ("sleep", "600"):
            process.kill()
    until((host.home / MARK).exists, "it does not shut down")
    assert paired_cloud.shut_down(machine) == "terminated"
    assert user.server_pid()
    until(lambda: paired_cloud.living() == [], "machines are left")
