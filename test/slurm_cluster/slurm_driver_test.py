"""The driver in allocations of a real Slurm: its steps, and nodes that do not stay."""

from pathlib import Path
from typing import Any

import pytest
from slurm_drivers import DrivenJob
from slurm_machine import Node

from slurm_cluster import SlurmCluster
from trainway.agent.testing import container, jobset, role

pytestmark = pytest.mark.xdist_group("slurm")

Json = dict[str, Any]

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
CHECKPOINTS = 'trap "echo saved; exit 0" TERM; echo begun; '
CHECKPOINTS += '[ "$TRAINWAY_RESTART_ATTEMPT" != 0 ] || { sleep 1000 & wait; }'


@pytest.fixture
def cluster(idle_slurm_cluster: SlurmCluster) -> SlurmCluster:
    return idle_slurm_cluster


def requests(**amounts: str) -> Json:
    names = {"gpu": "nvidia.com/gpu"}
    return {"resources": {"limits": {names.get(k, k): v for k, v in amounts.items()}}}


def node(script: str, pods: int = 2, **more: Any) -> Json:
    resources = more.pop("requests", requests(cpu="1", memory="100Mi"))
    main = container("main", script, **resources)
    return role("node", main, parallelism=pods, completions=pods, **more)


def epochs(job: DrivenJob) -> list[str]:
    path = job.path / "output" / "epochs"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.split()[1] for line in lines]


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


@pytest.mark.parametrize("victim", ["node-0-0", "node-0-1"], ids=["driver's node", "other node"])
def test_a_node_that_dies(cluster: SlurmCluster, tmp_path: Path, victim: str) -> None:
    job = DrivenJob(cluster, tmp_path, jobset(node(EPOCHS)), source="TrainJob")
    job.until(lambda: len(epochs(job)) == 3)
    dead = cluster.named(job.hosts[victim])
    cluster.kill_node(cluster.nodes.index(dead))
    (job.path / "output" / "go").touch()
    assert job.end()["succeeded"], job.said()
    assert epochs(job) == [str(number) for number in range(12)]
    assert dead.name not in job.hosts.values()
    assert job.restarts == 1


def test_a_node_that_is_cut_off_stops_what_it_runs(cluster: SlurmCluster, tmp_path: Path) -> None:
    job = DrivenJob(cluster, tmp_path, jobset(node(EPOCHS)), source="TrainJob")
    job.until(lambda: len(epochs(job)) == 3)
    lost = cluster.named(job.hosts["node-0-0"])
    cluster.cut(cluster.nodes.index(lost))
    (job.path / "output" / "go").touch()
    assert job.end()["succeeded"], job.said()
    assert epochs(job) == [str(number) for number in range(12)]
    assert lost.name not in job.hosts.values()
    job.until(lambda: not sleeps(lost))
    assert [record["seq"] for record in job.records()] == list(range(len(job.records())))


def sleeps(machine: Node) -> bool:
    return any("sleep" in process.words for process in machine.processes())


def test_a_preemption(cluster: SlurmCluster, tmp_path: Path) -> None:
    job = DrivenJob(cluster, tmp_path, jobset(node(CHECKPOINTS, 1)), partition="low")
    job.until_log("node-0-0.main.0", "begun")
    taker = cluster.preempt(job.number)
    cluster.wait_for_state(taker, "RUNNING")
    assert job.end()["succeeded"], job.said()
    assert job.log("node-0-0.main.0") == ["begun", "saved"]
    assert job.log("node-0-0.main.1") == ["begun"]
    assert (job.path / "token").read_text() == f"{job.number}.1"


def test_somebody_cancels_the_batch_job(cluster: SlurmCluster, tmp_path: Path) -> None:
    job = DrivenJob(cluster, tmp_path, jobset(node(CHECKPOINTS)))
    for pod in (0, 1):
        job.until_log(f"node-0-{pod}.main.0", "begun")
    cluster.run("scancel", str(job.number))
    assert cluster.wait_for_end(job.number) == "CANCELLED"
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
