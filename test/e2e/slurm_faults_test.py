"""What users see when a node dies, a job is preempted, or the server is killed."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from installation import is_alive
from slurm_fixtures import idle_slurm_cluster, slurm_cluster
from slurm_site import ON, SlurmSite, site_of, until

from slurm_cluster import SlurmCluster

__all__ = ["idle_slurm_cluster", "slurm_cluster"]

pytestmark = pytest.mark.xdist_group("slurm")

EPOCHS, NODES = 4, 2
ELSEWHERE_S = 120.0
"""Slurm needs a while to give a node up, and a new attempt waits for the lease of the old one."""
TRAIN = """
import os, pathlib, sys, time
gate, epochs = pathlib.Path(sys.argv[1]), int(sys.argv[2])
rank = os.environ["JOB_COMPLETION_INDEX"]
done = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"], f"epochs-{rank}")
for epoch in range(len(done.read_text().split()) if done.exists() else 0, epochs):
    while not (gate / str(epoch)).exists():
        time.sleep(0.05)
    with done.open("a") as file:
        file.write(f"{epoch}\\n")
    print("epoch", epoch, "of", rank, "on", os.environ["SLURMD_NODENAME"], flush=True)
"""


@dataclass(frozen=True)
class Training:
    """A job on two nodes that begins an epoch when it may."""

    site: SlurmSite
    id: str
    gate: Path

    def allow(self, *epochs: int) -> None:
        for epoch in epochs:
            (self.gate / str(epoch)).touch()

    def wait_for_epochs(self, count: int) -> None:
        """Wait until so many are done on both nodes."""
        folder = self.site.folder(self.id) / "output"
        files = [folder / f"epochs-{rank}" for rank in range(NODES)]
        until(
            lambda: all(file.exists() and len(file.read_text().split()) == count for file in files),
            f"{count} epochs are not done",
        )

    def hosts(self) -> list[str]:
        return [node["host"] for node in self.site.job(self.id)["status"]["nodes"]]

    def assert_it_succeeds(self) -> None:
        """Every epoch is in the output that came back, once."""
        until(
            lambda: self.site.phase(self.id) in ("Succeeded", "Failed"),
            "it does not end",
            ELSEWHERE_S,
        )
        job = self.site.job(self.id)
        assert job["status"]["phase"] == "Succeeded", job["status"]
        output = Path(job["status"]["outputDir"])
        for rank in range(NODES):
            found = (output / f"epochs-{rank}").read_text().split()
            assert found == [str(epoch) for epoch in range(EPOCHS)]


@pytest.fixture
def site(idle_slurm_cluster: SlurmCluster, tmp_path: Path) -> Iterator[SlurmSite]:
    with site_of(idle_slurm_cluster, tmp_path / "site") as made:
        yield made


def begun(site: SlurmSite, tmp_path: Path, *words: str) -> Training:
    """A training that has done its first epoch; a node has no room for two of its pods."""
    script, gate = tmp_path / "train.py", tmp_path / "gate"
    script.write_text(TRAIN)
    gate.mkdir()
    command = ("python3", str(script), str(gate), str(EPOCHS))
    options = ("--nodes", str(NODES), "--cpus", "5", "--name", "train", *words)
    training = Training(site, site.submit("--on", ON, *options, "--", *command), gate)
    training.allow(0)
    training.wait_for_epochs(1)
    return training


def test_a_node_that_is_killed_costs_no_epoch(site: SlurmSite, tmp_path: Path) -> None:
    training = begun(site, tmp_path)
    hosts = training.hosts()
    assert len(set(hosts)) == NODES

    site.slurm.kill_node([node.name for node in site.slurm.nodes].index(hosts[1]))
    training.allow(1, 2, 3)

    training.assert_it_succeeds()
    assert hosts[1] not in training.hosts()
    assert site.job(training.id)["status"]["restarts"] >= 1


def test_a_preempted_job_goes_on_later(site: SlurmSite, tmp_path: Path) -> None:
    training = begun(site, tmp_path, "--slurm", "partition=low")
    number = site.slurm_job(training.id)

    other = site.slurm.preempt(number)
    site.slurm.wait_for_state(other, "RUNNING")
    site.slurm.run("scancel", str(other))
    training.allow(1, 2, 3)

    training.assert_it_succeeds()
    assert site.slurm_job(training.id) == number


def test_a_killed_server_misses_nothing(site: SlurmSite, tmp_path: Path) -> None:
    training = begun(site, tmp_path)
    server = site.server_pid()

    os.kill(server, signal.SIGKILL)
    until(lambda: not is_alive(server), "it is not killed")
    training.allow(1, 2, 3)
    training.wait_for_epochs(EPOCHS)

    training.assert_it_succeeds()
    logs = site.run("jobs", "logs", training.id)
    assert [logs.count(f"epoch {epoch} of") for epoch in range(EPOCHS)] == [NODES] * EPOCHS
