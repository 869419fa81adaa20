"""A cluster whose nodes share no files with the login node, nor with each other."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_processes import HostProcess
from slurm_fixtures import started
from slurm_machine import Node
from slurm_site import ON, SlurmSite, site_of, until

from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")

EPOCHS, RANKS = 4, 2
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
    print("epoch", epoch, "of", rank, flush=True)
"""
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
    with started(5, namespaces=True, down_after_s=2, shared=False) as made:
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


def submitted(site: SlurmSite, gate: Path) -> str:
    """A training on two nodes that begins an epoch when it may, and the first one at once."""
    gate.mkdir()
    (gate / "0").touch()
    options = ("--nodes", str(RANKS), "--cpus", "5", "--name", "train", "--on", ON)
    return site.submit(*options, "--", "python3", "-c", TRAIN, str(gate), str(EPOCHS))


def wait_for_epochs(site: SlurmSite, job_id: str, count: int) -> None:
    """Wait until so many are known on the login node."""
    files = [site.folder(job_id) / "output" / f"epochs-{rank}" for rank in range(RANKS)]
    until(
        lambda: all(file.exists() and len(file.read_text().split()) == count for file in files),
        f"{count} epochs are not done",
        60.0,
    )


def assert_it_succeeds(site: SlurmSite, job_id: str) -> None:
    site.run("jobs", "wait", job_id)
    output = Path(site.job(job_id)["status"]["outputDir"])
    for rank in range(RANKS):
        found = (output / f"epochs-{rank}").read_text().split()
        assert found == [str(epoch) for epoch in range(EPOCHS)]
    logs = site.run("jobs", "logs", job_id)
    assert logs.count(f"epoch {EPOCHS - 1} of") == RANKS


def test_jobs_that_begin_anew_go_on_from_what_reached_the_login_node(
    site: SlurmSite, cluster: SlurmCluster
) -> None:
    """One loses its first node, which goes on for a while; nobody takes what it does. Meanwhile
    another one is suspended and resumed, and the server is killed."""
    gates = [cluster.work / "cut", cluster.work / "suspended"]
    cut_off, suspended = [submitted(site, gate) for gate in gates]
    for job_id in (cut_off, suspended):
        wait_for_epochs(site, job_id, 1)
    number = site.slurm_job(cut_off)
    node = cluster.named(cluster.facts(number)["BatchHost"])

    cluster.cut(cluster.nodes.index(node))
    site.run("jobs", "suspend", suspended)
    site.wait_for_phase(suspended, "Paused")
    for gate in gates:
        for epoch in range(1, EPOCHS):
            (gate / str(epoch)).touch()
    site.run("jobs", "resume", suspended)
    os.kill(site.server_pid(), signal.SIGKILL)

    assert_it_succeeds(site, suspended)
    assert files_left(cluster, site.slurm_job(suspended)) == []
    assert_it_succeeds(site, cut_off)
    assert cluster.facts(number)["Restarts"] == "1"
    until(lambda: not pods_on(node), "the stale attempt does not end")
    assert {name for name, _ in files_left(cluster, number)} == {node.name}


def test_a_cancelled_job_leaves_nothing(
    site: SlurmSite, cluster: SlurmCluster, tmp_path: Path
) -> None:
    """Of a heterogeneous job, each part of which has nodes of its own."""
    manifest = tmp_path / "roles.yaml"
    manifest.write_text(ROLES)
    job_id = site.submit("--on", ON, str(manifest))
    until(lambda: site.run("jobs", "logs", job_id).count("begun") == RANKS, "it does not begin")
    number = int(cluster.facts(site.slurm_job(job_id))["HetJobId"])
    assert len({name for name, _ in files_left(cluster, number)}) == RANKS
    site.run("jobs", "cancel", job_id)
    assert site.job(job_id)["status"]["phase"] == "Cancelled"
    until(lambda: not files_left(cluster, number), "something is left")
