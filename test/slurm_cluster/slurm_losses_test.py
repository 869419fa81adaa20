"""Jobs that Slurm stops: their nodes die or are cut off, somebody else comes first, time is over.

It takes up to half a minute over each. So all of it happens at once, on a cluster of its own: to
plain batch jobs, which tell that this cluster is like others, and to jobs that have a driver.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from patience import until
from slurm_drivers import CHECKPOINTS, DrivenJob, node, requests
from slurm_fixtures import started
from slurm_machine import Node
from slurm_sleepers import ONCE, sleeps

from slurm_cluster import SlurmCluster
from trainway.agent.base.testing import jobset

pytestmark = pytest.mark.xdist_group("slurm_losses")  # with clusters of its own

NODES = 22
"""Enough for all jobs at once, and for those of them that begin anew."""
PLAIN = {
    "held": "main",
    "preempted": "low",
    "declared down": "main",
    "killed": "main",
    "cut off": "main",
}
"""Batch jobs by what happens to them, and their partitions."""
EPOCHS = """
echo "begun $TRAINWAY_FENCING_TOKEN"
file=$TRAINWAY_OUTPUT_DIR/epochs
touch $file
while [ $(wc -l < $file) -lt 12 ]; do
  [ "$TRAINWAY_RANK" != 0 ] || echo "epoch $(wc -l < $file) $TRAINWAY_FENCING_TOKEN" >> $file
  [ -e $TRAINWAY_OUTPUT_DIR/go ] || [ $(wc -l < $file) -lt 3 ] || sleep 1000
  sleep 0.1
done
"""
"""Stops after three epochs until it is told to go on."""
ROOMY = requests(cpu="5", memory="100Mi")
"""No node has room for two of such pods."""


@dataclass(frozen=True)
class Loss:
    """What becomes of the node of a pod."""

    pod: str
    happens: Callable[[SlurmCluster, int], None]


LOSSES = {
    "driver's node": Loss("node-0-0", SlurmCluster.kill_node),
    "other node": Loss("node-0-1", SlurmCluster.kill_node),
    "cut off": Loss("node-0-0", SlurmCluster.cut),
}


@dataclass(frozen=True)
class Plain:
    """A batch job without a driver, and the node that it ran on."""

    number: int
    node: Node


@dataclass(frozen=True)
class Driven:
    """A job with a driver, and the node that it lost."""

    job: DrivenJob
    lost: Node


@dataclass(frozen=True)
class Cluster:
    """What it was made to run; some of its nodes are gone since."""

    slurm: SlurmCluster
    plain: dict[str, Plain]
    slow: int
    taker: int
    """The job for which another one was preempted."""
    driven: dict[str, Driven]
    displaced: DrivenJob
    """One that was preempted."""

    def index(self, name: str) -> int:
        """The node of a plain job."""
        return self.slurm.nodes.index(self.plain[name].node)

    def wait_for_end(self, name: str) -> None:
        """Wait until a plain job has ended well."""
        number = self.plain[name].number
        self.slurm.wait_for_state(number, "COMPLETED")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with started(NODES, namespaces=True, preemption=True) as slurm:
        numbers = {name: submitted(slurm, partition) for name, partition in PLAIN.items()}
        slow = slurm.submit("exec sleep 1000", "--exclusive", "--time=2")
        jobs = {name: training(slurm, tmp_path_factory.mktemp("driven")) for name in LOSSES}
        displaced = DrivenJob(
            slurm,
            tmp_path_factory.mktemp("displaced"),
            jobset(node(CHECKPOINTS, 1, requests=ROOMY)),
            partition="low",
        )
        for number in (*numbers.values(), slow):
            slurm.wait_for_state(number, "RUNNING")
        plain = {
            name: Plain(number, slurm.named(slurm.facts(number)["NodeList"]))
            for name, number in numbers.items()
        }
        until(lambda: all(sleeps(each.node) for each in plain.values()), "they do not run")
        for job in jobs.values():
            wait_for_epochs(job, 3)
        displaced.until_log("node-0-0.main.0", "begun")
        driven = {
            name: Driven(job, slurm.named(job.hosts[LOSSES[name].pod]))
            for name, job in jobs.items()
        }

        taker = slurm.preempt(plain["preempted"].number)
        slurm.preempt(displaced.number)
        made = Cluster(slurm, plain, slow, taker, driven, displaced)
        slurm.kill_node(made.index("killed"))
        slurm.cut(made.index("cut off"))
        slurm.cut(made.index("declared down"))
        slurm.declare_down(made.index("declared down"))
        slurm.expire(slow, 1)
        for name, each in driven.items():
            LOSSES[name].happens(slurm, slurm.nodes.index(each.lost))
            (each.job.path / "output" / "go").touch()
        yield made


def submitted(slurm: SlurmCluster, partition: str) -> int:
    return slurm.submit(ONCE, "--exclusive", "--open-mode=append", "-p", partition)


def training(slurm: SlurmCluster, folder: Path) -> DrivenJob:
    """Two pods, on a node each."""
    return DrivenJob(slurm, folder, jobset(node(EPOCHS, requests=ROOMY)), source="TrainJob")


def epochs(job: DrivenJob) -> list[str]:
    path = job.path / "output" / "epochs"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.split()[1] for line in lines]


def wait_for_epochs(job: DrivenJob, count: int) -> None:
    job.until(lambda: len(epochs(job)) == count)


def test_held_jobs_wait_until_they_are_released(cluster: Cluster) -> None:
    slurm, number = cluster.slurm, cluster.plain["held"].number
    slurm.run("scontrol", "requeuehold", str(number))
    slurm.wait_for_state(number, "PENDING")
    assert slurm.facts(number)["Reason"] == "job_requeued_in_held_state"
    slurm.run("scontrol", "release", str(number))
    cluster.wait_for_end("held")


def test_a_preempted_job_is_requeued(cluster: Cluster) -> None:
    preempted = cluster.plain["preempted"]
    cluster.slurm.wait_for_state(cluster.taker, "RUNNING")
    assert cluster.slurm.facts(cluster.taker)["NodeList"] == preempted.node.name
    cluster.wait_for_end("preempted")
    requeued = int(cluster.slurm.facts(preempted.number)["Restarts"])
    assert requeued >= 1, "more where it was first sent to a node that is lost"


def test_a_preempted_pod_has_time_to_save_what_it_did(cluster: Cluster) -> None:
    job = cluster.displaced
    assert job.end()["succeeded"], job.said()
    assert job.log("node-0-0.main.0") == ["begun", "saved"]
    assert job.log(f"node-0-0.main.{job.restarts}") == ["begun"]
    number, requeued = job.token
    assert number == job.number
    assert requeued >= 1, "more where it was first sent to a node that is lost"


@pytest.mark.parametrize("name", ["declared down", "killed", "cut off"])
def test_a_job_begins_anew_elsewhere(cluster: Cluster, name: str) -> None:
    cluster.wait_for_end(name)
    job = cluster.plain[name]
    before, after = cluster.slurm.output(job.number).splitlines()
    assert before.split() == [job.node.name]
    assert int(after.split()[0]) >= 1, "more where it was first sent to a node that is lost too"
    lost = {cluster.plain[each].node.name for each in ("declared down", "killed", "cut off")}
    lost |= {each.lost.name for each in cluster.driven.values()}
    assert after.split()[1] not in lost


def test_only_a_node_that_is_cut_off_goes_on(cluster: Cluster) -> None:
    for name in ("declared down", "cut off"):
        cluster.wait_for_end(name)
        assert sleeps(cluster.plain[name].node), "no split brain"
    assert cluster.plain["killed"].node.processes() == []


@pytest.mark.parametrize("name", LOSSES)
def test_a_lost_node_costs_no_epoch(cluster: Cluster, name: str) -> None:
    job, lost = cluster.driven[name].job, cluster.driven[name].lost
    assert job.end()["succeeded"], job.said()
    assert epochs(job) == [str(number) for number in range(12)]
    assert lost.name not in job.hosts.values()
    assert job.restarts >= 1
    records = job.records()
    assert [record["seq"] for record in records] == list(range(len(records)))


def test_a_pod_that_is_cut_off_stops_itself(cluster: Cluster) -> None:
    driven = cluster.driven["cut off"]
    assert driven.job.end()["succeeded"], driven.job.said()
    until(lambda: not sleeps(driven.lost), "it goes on", said=driven.job.said)


def test_a_job_that_takes_too_long_is_ended(cluster: Cluster) -> None:
    cluster.slurm.wait_for_state(cluster.slow, "TIMEOUT")


def test_nodes_that_come_back_are_idle(cluster: Cluster) -> None:
    """The last, since the others look at what is lost."""
    names = ("killed", "cut off")
    for name in names:
        cluster.wait_for_end(name)
    cluster.slurm.start_node(cluster.index("killed"))
    cluster.slurm.heal(cluster.index("cut off"))
    for name in names:
        cluster.slurm.wait_for_node(cluster.index(name), "idle")
    until(lambda: not sleeps(cluster.plain["cut off"].node), "Slurm does not end the stale job")
