"""A cluster whose nodes share no files with the login node, nor with each other."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from counting_job import assert_one_history, counter, moved, steps_on
from host_processes import HostProcess
from installation import kill
from paced_training import EPOCHS, NODES, PacedTraining
from slurm_fixtures import started
from slurm_machine import Node
from slurm_site import ON, SlurmSite, site_of, until

from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm_scattered")  # with clusters of its own

ROLES = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: two-roles}
spec:
  replicatedJobs:
  - name: small
    template: {spec: {template: {spec: {restartPolicy: Never, containers: [
      {name: main, command: [sh, -c, "echo begun; exec sleep 1000"],
       resources: {requests: {cpu: 1}}}]}}}}
  - name: large
    template: {spec: {template: {spec: {restartPolicy: Never, containers: [
      {name: main, command: [sh, -c, "echo begun; exec sleep 1000"],
       resources: {requests: {cpu: 2}}}]}}}}
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    with started(5, namespaces=True, shared=False) as made:
        yield made


@pytest.fixture
def site(cluster: SlurmCluster, tmp_path: Path) -> Iterator[SlurmSite]:
    with site_of(cluster, tmp_path / "site", section={"shared": False}) as made:
        yield made
    cluster.clear()


def files_left(cluster: SlurmCluster, number: int) -> list[tuple[str, str]]:
    """What a job left, and on which nodes."""
    found = cluster.folder.glob(f"*/tmp/trainway-{number}.*")
    return [(path.parents[1].name, path.name) for path in found]


def pods_on(node: Node) -> list[HostProcess]:
    """The processes of trainings on a node."""
    return [process for process in node.processes() if str(EPOCHS) == process.words[-1]]


def test_jobs_that_begin_anew_go_on_from_what_reached_the_login_node(
    site: SlurmSite, cluster: SlurmCluster
) -> None:
    """One loses its first node, which goes on for a while; nobody takes what it does. Meanwhile
    another one is suspended and resumed, and the server is killed."""
    cut_off = PacedTraining.submitted(site, cluster.work / "cut")
    suspended = PacedTraining.submitted(site, cluster.work / "suspended")
    for training in (cut_off, suspended):
        training.wait_for_epochs(1)
    number = site.slurm_job(cut_off.id)
    node = cluster.named(cluster.facts(number)["BatchHost"])

    cluster.cut(cluster.nodes.index(node))
    site.run("jobs", "suspend", suspended.id)
    site.wait_for_phase(suspended.id, "Paused")
    for training in (cut_off, suspended):
        training.allow(*range(1, EPOCHS))
    site.run("jobs", "resume", suspended.id)
    kill(site.server_pid())

    suspended.assert_it_succeeds()
    stayed = site.slurm_job(suspended.id)
    until(lambda: files_left(cluster, stayed) == [], "something is left")
    cut_off.assert_it_succeeds()
    for training in (cut_off, suspended):
        assert site.run("jobs", "logs", training.id).count(f"epoch {EPOCHS - 1} of") == NODES
    assert int(cluster.facts(number)["Restarts"]) >= 1
    until(lambda: not pods_on(node), "the stale attempt does not end")
    until(
        lambda: {name for name, _ in files_left(cluster, number)} == {node.name},
        "something is left",
        said=lambda: str(files_left(cluster, number)),
    )


def test_a_cancelled_job_leaves_nothing(
    site: SlurmSite, cluster: SlurmCluster, tmp_path: Path
) -> None:
    """Of a heterogeneous job, each part of which has nodes of its own."""
    manifest = tmp_path / "roles.yaml"
    manifest.write_text(ROLES)
    job_id = site.submit("--on", ON, str(manifest))
    until(lambda: site.run("jobs", "logs", job_id).count("begun") == NODES, "it does not begin")
    number = int(cluster.facts(site.slurm_job(job_id))["HetJobId"])
    assert len({name for name, _ in files_left(cluster, number)}) == NODES
    site.run("jobs", "cancel", job_id)
    assert site.job(job_id)["status"]["phase"] == "Cancelled"
    until(lambda: not files_left(cluster, number), "something is left")


def test_a_job_comes_from_another_place_and_leaves_with_its_output(
    site: SlurmSite, cluster: SlurmCluster, tmp_path: Path
) -> None:
    job = counter(site, tmp_path)

    site.run("jobs", "move", job, "--on", ON)
    moved(site, job, ON)
    steps_on(site, job)
    number = site.slurm_job(job)
    site.run("jobs", "move", job, "--on", "local")
    moved(site, job, "local")
    Path(site.job(job)["status"]["outputDir"], "stop").touch()
    site.run("jobs", "wait", job)

    assert_one_history(site, job, places=3)
    until(lambda: files_left(cluster, number) == [], "files are left on nodes")
