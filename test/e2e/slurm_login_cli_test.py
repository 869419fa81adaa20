"""A cluster whose login node is another host: all that users do goes through a real SSH server.

The cluster stands in `~/.slurm/config` alone. This machine has no settings of Slurm in these tests.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
import yaml
from environments import unavailable
from host_processes import HostProcess
from installation import TIMEOUT_S, installed
from slurm_site import SlurmSite, until
from switch import UnavailableError

from slurm_cluster import SlurmCluster
from ssh_hosts import Host, SshHosts

pytestmark = pytest.mark.xdist_group("slurm")

ON: Final = "slurm/hpc"
SPEAK: Final = """
for number in 1 2 3 4; do
  until [ -e $0/$number ]; do sleep 0.1; done
  echo line $number
done
echo "$WORD" > $TRAINWAY_OUTPUT_DIR/word
"""
"""Says the next thing when it may."""


@dataclass(frozen=True)
class LoginSite(SlurmSite):
    """Commands on a machine that reaches the cluster through its login node only."""

    hosts: SshHosts = field(kw_only=True)

    @property
    def login(self) -> Host:
        """The login node."""
        return self.hosts[0]

    def relay(self) -> HostProcess:
        """The process that serves us there."""
        (found,) = self.relays()
        return found

    def relays(self) -> list[HostProcess]:
        """All such processes."""
        return [each for each in self.login.processes() if each.words[2:4] == ("slurm", "relay")]


@pytest.fixture(scope="module")
def site(
    slurm_cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LoginSite]:
    try:
        hosts = SshHosts(1, network=slurm_cluster.network)
    except UnavailableError as error:
        unavailable(str(error))
    folder = tmp_path_factory.mktemp("login")
    with hosts:
        serve_slurm(hosts[0], slurm_cluster)
        known = folder / ".slurm" / "config"
        known.parent.mkdir()
        known.write_text(hosts.config.read_text().replace("Host h0\n", "Host hpc\n"))
        home, variables = folder / "home", {"HOME": str(folder)}
        home.mkdir()
        bare = {"login": "hpc", "options": ["-F", str(known)], "python": sys.executable}
        sections = {"bare": {**bare, "env": {"PATH": "/nowhere"}}}
        (home / "config.yaml").write_text(yaml.safe_dump({"clusters": sections}))
        with installed(home, variables):
            shared = hosts[0].home / ".trainway" / "slurm"
            yield LoginSite(home, variables, slurm=slurm_cluster, shared=shared, hosts=hosts)
            hosts.heal_all()


def serve_slurm(host: Host, cluster: SlurmCluster) -> None:
    """Have all who log in find the cluster."""
    settings = host.folder / "sshd_config"
    settings.write_text(f"{settings.read_text()}SetEnv SLURM_CONF={cluster.conf}\n")
    host.restart_sshd()


@dataclass(frozen=True)
class Speaker:
    """A job that says a line when it may, and somebody who listens."""

    site: LoginSite
    id: str
    gate: Path

    def allow(self, *numbers: int) -> None:
        for number in numbers:
            (self.gate / str(number)).touch()


@pytest.fixture
def speaker(site: LoginSite, tmp_path: Path) -> Iterator[Speaker]:
    words = ("--env", "WORD=hello", "--name", "speaker", "--", "sh", "-c", SPEAK, str(tmp_path))
    job = site.submit("--on", ON, *words)
    yield Speaker(site, job, tmp_path)
    site.run("jobs", "delete", job)


LINES = [f"node-0 | line {number}" for number in range(1, 5)]


def test_a_job_runs_on_the_partition_that_is_named(site: LoginSite) -> None:
    script = 'echo $SLURM_JOB_PARTITION; uname -n > "$TRAINWAY_OUTPUT_DIR/$JOB_COMPLETION_INDEX"'
    words = ("--nodes", "2", "--name", "low", "--", "sh", "-c", script)

    printed = site.run("run", "--on", f"{ON}/low", *words)

    assert sorted(printed.splitlines()) == ["node-0 | low", "node-1 | low"]
    job = site.job("low")
    nodes = {path.read_text().strip() for path in Path(job["status"]["outputDir"]).iterdir()}
    assert nodes == {node["host"] for node in job["status"]["nodes"]}
    assert nodes < {node.name for node in site.slurm.nodes}
    assert len(list((site.login.home / ".trainway/agent").glob("*.pyz"))) == 1
    site.run("jobs", "delete", job["metadata"]["id"])
    assert not site.folder(job["metadata"]["id"]).exists()


def test_a_relay_that_is_killed_costs_no_line(site: LoginSite, speaker: Speaker) -> None:
    with site.follow_logs(speaker.id) as follower:
        assert follower.stdout is not None
        speaker.allow(1)
        assert follower.stdout.readline().strip() == LINES[0]

        site.relay().kill()
        speaker.allow(2)
        assert follower.stdout.readline().strip() == LINES[1]

        beside = 'echo "$WORD" on $SLURMD_NODENAME; exit 3'
        printed = site.run("jobs", "exec", speaker.id, "--", "sh", "-c", beside, code=3)
        node = site.job(speaker.id)["status"]["nodes"][0]["host"]
        assert printed.split() == ["hello", "on", node]

        number = site.slurm_job(speaker.id)
        site.run("jobs", "cancel", speaker.id)
        assert "line" not in follower.stdout.read()
    site.wait_for_phase(speaker.id, "Cancelled")
    site.slurm.wait_for_state(number, "CANCELLED")


def test_a_login_node_that_goes_away_is_waited_for(site: LoginSite, speaker: Speaker) -> None:
    with site.follow_logs(speaker.id) as follower:
        assert follower.stdout is not None
        speaker.allow(1)
        assert follower.stdout.readline().strip() == LINES[0]
        number = site.slurm_job(speaker.id)

        site.hosts.cut(site.login)
        speaker.allow(2, 3, 4)
        until(
            lambda: site.look(speaker.id)["status"].get("reason") == "Unavailable",
            "nobody says that the login node is away",
        )
        message = site.look(speaker.id)["status"]["message"]
        assert message.startswith("cluster hpc (hpc): ")
        assert message.endswith(")"), "there is no hint"
        site.slurm.wait_for_state(number, "COMPLETED")
        site.hosts.heal(site.login)

        assert follower.stdout.read().splitlines() == LINES[1:]
    assert follower.returncode == 0
    status = site.job(speaker.id)["status"]
    assert status["phase"] == "Succeeded"
    assert (Path(status["outputDir"]) / "word").read_text() == "hello\n"


def test_a_cluster_is_held_through_the_login_node(site: LoginSite) -> None:
    launch = ("launch", "-y", "-c", "held", "--infra", ON, "--num-nodes", "2")
    printed = site.run(*launch, "echo on $SLURMD_NODENAME")
    nodes = {line.partition(" on ")[2] for line in printed.splitlines() if " on " in line}
    assert len(nodes) == 2
    assert site.run("ssh", "held", "echo", "$SLURMD_NODENAME").strip() in nodes
    site.run("down", "held", "-y")
    site.slurm.wait_until_empty()


def test_a_login_node_without_slurm_is_said_with_what_to_do(site: LoginSite) -> None:
    process = site.start("run", "--on", "slurm/bare", "--", "true")
    printed, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    assert "there is no scontrol on the login node" in printed
    assert "hint: make sure that Slurm is on PATH" in printed


def test_doctor_runs_a_job_where_it_may(site: LoginSite) -> None:
    report = site.json("doctor", "--deep", "--any")
    checks = {item["name"]: item["checks"] for item in report["backends"]}
    assert [check["name"] for check in checks["slurm/bare"] if not check["ok"]] == ["login"]
    details = {check["name"]: check["detail"] for check in checks[ON]}
    assert all(check["ok"] for check in checks[ON]), checks[ON]
    assert details["job"].removeprefix("one ran on node ") in details["files"]
