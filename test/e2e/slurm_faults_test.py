"""What users see when a node dies, a job is preempted, or the server is killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from host_processes import HostProcess, described
from installation import kill
from paced_training import EPOCHS, NODES, PacedTraining
from slurm_site import SlurmSite, site_of

from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")


@pytest.fixture
def site(idle_slurm_cluster: SlurmCluster, tmp_path: Path) -> Iterator[SlurmSite]:
    with site_of(idle_slurm_cluster, tmp_path / "site") as made:
        yield made


def test_what_slurm_requeues_costs_no_epoch(site: SlurmSite, tmp_path: Path) -> None:
    """A job whose node is killed, which Slurm sees after a while, and one that is preempted."""
    low = ("--slurm", "partition=low")
    hurt = PacedTraining.submitted(site, tmp_path / "hurt")
    displaced = PacedTraining.submitted(site, tmp_path / "displaced", *low)
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
    training = PacedTraining.submitted(site, tmp_path / "gate")
    training.wait_for_epochs(1)

    kill(site.server_pid())
    training.allow(1, 2, 3)
    training.wait_for_epochs(EPOCHS)

    training.assert_it_succeeds()
    logs = site.run("jobs", "logs", training.id)
    assert [logs.count(f"epoch {epoch} of") for epoch in range(EPOCHS)] == [NODES] * EPOCHS


def test_a_killed_driver_costs_no_epoch(site: SlurmSite, tmp_path: Path) -> None:
    training = PacedTraining.submitted(site, tmp_path / "gate")
    training.wait_for_epochs(1)
    number = site.slurm_job(training.id)

    driver_of(training.id).kill()
    training.allow(1, 2, 3)

    training.assert_it_succeeds()
    assert site.slurm_job(training.id) == number
    assert site.job(training.id)["status"]["restarts"] == 1


def test_a_job_that_is_cancelled_as_its_driver_dies_is_cancelled(
    site: SlurmSite, tmp_path: Path
) -> None:
    training = PacedTraining.submitted(site, tmp_path / "gate")
    training.wait_for_epochs(1)

    driver_of(training.id).kill()
    site.run("jobs", "cancel", training.id)

    assert site.phase(training.id) == "Cancelled"


def driver_of(job_id: str) -> HostProcess:
    """What runs a job in its allocation."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    found = [process for process in map(described, pids) if process is not None]
    (driver,) = (each for each in found if each.job == job_id and "drive" in each.words)
    return driver
