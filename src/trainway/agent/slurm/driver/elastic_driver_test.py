"""An elastic job in an allocation that loses tasks: real processes, and no Slurm."""

import os
import signal

from trainway.agent.base.labels import MIN_NODES
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.slurm.testing import SlurmJob, slurm_job
from trainway.json_types import Json

WAITS = "echo begun; while [ ! -e go ]; do sleep 0.05; done"


def elastic(least: int) -> Json:
    made = role("node", container("main", WAITS), parallelism=3, completions=3)
    made["template"]["metadata"] = {"annotations": {MIN_NODES: str(least)}}
    return jobset(made)


def begin(job: SlurmJob) -> None:
    job.nodes, job.tasks = "a,b,c", "1(x3)"
    job.drive()
    for index in range(3):
        job.until_log(f"node-0-{index}.main.0", "begun")


def lose(job: SlurmJob, pod: str) -> None:
    """Kill the task of a pod, as the loss of its node does."""
    found = job.find(type="pod", pod=pod, phase="Running")
    assert found is not None
    for pid in job.agents(found["uid"]):
        os.kill(pid, signal.SIGKILL)


def sizes(job: SlurmJob) -> list[str]:
    events = [record for record in job.records() if record.get("reason") == "NodesChanged"]
    return [event["message"] for event in events]


def test_each_node_has_a_step_of_its_own_and_the_others_go_on() -> None:
    with slurm_job(elastic(2)) as job:
        begin(job)
        starts = [call for call in job.calls() if call[0] == "srun"]
        assert len(starts) == 3
        lose(job, "node-0-2")
        job.until_record(reason="NodesChanged", message="runs with 2 of 3 nodes")
        (job.path.parent / "go").touch()
        assert job.end_of(job.drivers[0]) == 0, job.said()
        assert [call for call in job.calls() if call[0] == "scontrol"] == []
        assert sizes(job) == ["runs with 3 of 3 nodes", "runs with 2 of 3 nodes"]


def test_below_the_minimum_slurm_begins_anew() -> None:
    with slurm_job(elastic(3)) as job:
        begin(job)
        lose(job, "node-0-2")
        assert job.end_of(job.drivers[0]) == 1
        assert ["scontrol", "requeue", "7"] in job.calls()


def test_it_runs_with_the_nodes_that_slurm_gave() -> None:
    with slurm_job(elastic(2)) as job:
        job.drive()
        job.until_record(reason="NodesChanged", message="runs with 2 of 3 nodes")
        (job.path.parent / "go").touch()
        assert job.end_of(job.drivers[0]) == 0, job.said()
        assert len([call for call in job.calls() if call[0] == "srun"]) == 2
