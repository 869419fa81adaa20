"""The driver in allocations of a real Slurm: its steps, and what ends it early."""

from pathlib import Path

import pytest
from slurm_drivers import CHECKPOINTS, DrivenJob, node, requests

from slurm_cluster import SlurmCluster
from trainway.agent.base.testing import container, jobset, role

pytestmark = pytest.mark.xdist_group("slurm")


@pytest.fixture
def cluster(idle_slurm_cluster: SlurmCluster) -> SlurmCluster:
    return idle_slurm_cluster


def test_pods_find_each_other_by_name(cluster: SlurmCluster, tmp_path: Path) -> None:
    script = (
        "hostname; for pod in 0 1; do getent hosts trial-node-0-$pod.trial | cut -d' ' -f1; done"
    )
    job = DrivenJob(cluster, tmp_path, jobset(node(script)), source="TrainJob")
    assert job.end()["succeeded"], job.said()
    assert cluster.wait_for_end(job.number) == "COMPLETED"
    first, second = (cluster.named(job.hosts[f"node-0-{pod}"]) for pod in (0, 1))
    addresses = [
        cluster.place.node_addresses[cluster.nodes.index(item)] for item in (first, second)
    ]
    assert job.log("node-0-0.main.0") == [first.name, *addresses]
    assert job.log("node-0-1.main.0") == [second.name, *addresses]
    assert first is not second


def test_roles_that_differ_and_a_pod_that_is_tried_again(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    train = "echo $CUDA_VISIBLE_DEVICES; "
    train += '[ "$TRAINWAY_RANK" = 0 ] && while [ ! -e done ]; do sleep 0.1; done && exit 0; '
    train += "[ -e tried ] && touch done && exit 0; touch tried; exit 1"
    act = container("main", "hostname", **requests(cpu="2", memory="100Mi"))
    spec = jobset(
        node(train, requests=requests(cpu="1", memory="100Mi", gpu="1"), backoffLimit=1),
        role("actor", act),
    )
    job = DrivenJob(cluster, tmp_path, spec)
    assert job.end()["succeeded"], job.said()
    seen = [job.log(f"node-0-{pod}.main.0") for pod in (0, 1)]
    if job.hosts["node-0-0"] == job.hosts["node-0-1"]:
        assert [sorted(set(devices)) for devices in seen] == [["0"], ["1"]]
    assert len(seen[1]) == 2
    assert seen[1][0] == seen[1][1]
    assert job.log("actor-0-0.main.0") == [job.hosts["actor-0-0"]]


def test_a_launcher_runs_commands_in_pods_on_other_nodes(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    launch = (
        "for pod in 0 1; do trainway-srun trial-node-0-$pod 'hostname; echo $TRAINWAY_RANK'; done"
    )
    launch += "; trainway-srun trial-node-0-1 exit 3; echo $?; touch done"
    work = "while [ ! -e done ]; do sleep 0.1; done"
    spec = jobset(role("launcher", container("main", launch)), node(work))
    job = DrivenJob(cluster, tmp_path, spec, source="MPIJob")
    assert job.end()["succeeded"], job.said()
    names = [job.hosts[f"node-0-{pod}"] for pod in (0, 1)]
    said = [line for line in job.log("launcher-0-0.main.0") if not line.startswith("srun: ")]
    assert said == [names[0], "0", names[1], "1", "3"]
    assert names[0] != names[1]


def test_somebody_cancels_the_batch_job(cluster: SlurmCluster, tmp_path: Path) -> None:
    job = DrivenJob(cluster, tmp_path, jobset(node(CHECKPOINTS)))
    for pod in (0, 1):
        job.until_log(f"node-0-{pod}.main.0", "begun")
    cluster.run("scancel", str(job.number))
    assert cluster.wait_for_end(job.number) == "CANCELLED", job.said()
    assert job.log("node-0-0.main.0") == ["begun", "saved"]
    assert job.find(type="end") == []
    assert job.find(type="event", reason="AllocationLost")


@pytest.mark.parametrize("wish", ["cancel", "suspend"])
def test_a_wish_of_the_user(cluster: SlurmCluster, tmp_path: Path, wish: str) -> None:
    job = DrivenJob(cluster, tmp_path, jobset(node(CHECKPOINTS)))
    for pod in (0, 1):
        job.until_log(f"node-0-{pod}.main.0", "begun")
    (job.path / "wish").write_text(wish)
    cluster.run("scancel", "--batch", "--signal=TERM", str(job.number))
    if wish == "cancel":
        assert job.end()["reason"] == "Cancelled"
        assert cluster.wait_for_end(job.number) == "CANCELLED"
        return
    job.until((job.path / "stopped").exists)
    cluster.run("scontrol", "requeuehold", str(job.number))
    cluster.wait_for_state(job.number, "PENDING")
    assert job.find(type="end") == []


def test_the_time_limit(cluster: SlurmCluster, tmp_path: Path) -> None:
    grace = {"terminationGracePeriodSeconds": 1}
    job = DrivenJob(cluster, tmp_path, jobset(node(CHECKPOINTS, pod=grace)), time="2")
    for pod in (0, 1):
        job.until_log(f"node-0-{pod}.main.0", "begun")
    cluster.run("scancel", "--batch", "--signal=USR1", str(job.number))
    assert job.end()["reason"] == "TimeLimit"
    assert job.log("node-0-0.main.0") == ["begun", "saved"]
    assert cluster.wait_for_end(job.number) == "FAILED"
