"""What users see when a node dies, a job is preempted, or the server is killed."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from installation import is_alive
from slurm_site import ON, SlurmSite, site_of, until

from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")

EPOCHS, NODES = 4, 2
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
        """Where its pods are, once that is known here too."""
        until(lambda: None not in self._hosts(), "it does not say where it runs")
        return [str(host) for host in self._hosts()]

    def _hosts(self) -> list[str | None]:
        return [node.get("host") for node in self.site.look(self.id)["status"]["nodes"]]

    def assert_it_succeeds(self) -> None:
        """Every epoch is in the output that came back, once."""
        self.site.run("jobs", "wait", self.id)
        output = Path(self.site.job(self.id)["status"]["outputDir"])
        for rank in range(NODES):
            found = (output / f"epochs-{rank}").read_text().split()
            assert found == [str(epoch) for epoch in range(EPOCHS)]


@pytest.fixture
def site(idle_slurm_cluster: SlurmCluster, tmp_path: Path) -> Iterator[SlurmSite]:
    with site_of(idle_slurm_cluster, tmp_path / "site") as made:
        yield made


def submitted(site: SlurmSite, folder: Path, *words: str) -> Training:
    """A training that may do its first epoch; a node has no room for two of its pods."""
    script, gate = folder / "train.py", folder / "gate"
    gate.mkdir(parents=True)
    script.write_text(TRAIN)
    command = ("python3", str(script), str(gate), str(EPOCHS))
    options = ("--nodes", str(NODES), "--cpus", "5", "--name", "train", *words)
    training = Training(site, site.submit("--on", ON, *options, "--", *command), gate)
    training.allow(0)
    return training


def test_what_slurm_requeues_costs_no_epoch(site: SlurmSite, tmp_path: Path) -> None:
    """A job whose node is killed, which Slurm sees after a while, and one that is preempted."""
    hurt = submitted(site, tmp_path / "hurt")
    displaced = submitted(site, tmp_path / "displaced", "--slurm", "partition=low")
    for training in (hurt, displaced):
        training.wait_for_epochs(1)
    number, hosts = site.slurm_job(displaced.id), hurt.hosts()
    assert len({*hosts, *displaced.hosts()}) == 2 * NODES

    site.slurm.kill_node(site.slurm.nodes.index(site.slurm.named(hosts[1])))
    other = site.slurm.preempt(number)
    site.slurm.wait_for_state(other, "RUNNING")
    site.slurm.run("scancel", str(other))
    for training in (hurt, displaced):
        training.allow(1, 2, 3)

    displaced.assert_it_succeeds()
    assert site.slurm_job(displaced.id) == number
    hurt.assert_it_succeeds()
    assert hosts[1] not in hurt.hosts()
    assert site.job(hurt.id)["status"]["restarts"] >= 1


def test_a_killed_server_misses_nothing(site: SlurmSite, tmp_path: Path) -> None:
    training = submitted(site, tmp_path)
    training.wait_for_epochs(1)
    server = site.server_pid()

    os.kill(server, signal.SIGKILL)
    until(lambda: not is_alive(server), "it is not killed")
    training.allow(1, 2, 3)
    training.wait_for_epochs(EPOCHS)

    training.assert_it_succeeds()
    logs = site.run("jobs", "logs", training.id)
    assert [logs.count(f"epoch {epoch} of") for epoch in range(EPOCHS)] == [NODES] * EPOCHS
