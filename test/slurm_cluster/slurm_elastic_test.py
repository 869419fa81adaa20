"""An elastic job on a real Slurm whose nodes die: the allocation stays, and the others go on."""

from pathlib import Path

import pytest
from slurm_drivers import DrivenJob, node, requests
from slurm_fixtures import started

from trainway.agent.base.labels import MIN_NODES
from trainway.agent.base.testing import jobset

pytestmark = pytest.mark.xdist_group("slurm_losses")  # with a cluster of its own

ROOMY = requests(cpu="5", memory="100Mi")
"""No node has room for two of such pods."""
WAITS = "echo begun; while [ ! -e $TRAINWAY_OUTPUT_DIR/go ]; do sleep 0.1; done"


def test_it_starts_with_the_nodes_that_there_are_and_goes_on_without_one(tmp_path: Path) -> None:
    made = node(WAITS, 4, requests=ROOMY, completionMode="Indexed")
    made["template"]["metadata"] = {"annotations": {MIN_NODES: "2"}}
    with started(3, namespaces=True) as slurm:
        job = DrivenJob(slurm, tmp_path, jobset(made), source="TrainJob")
        for index in range(3):
            job.until_log(f"node-0-{index}.main.0", "begun")
        job.until(lambda: job.find(reason="NodesChanged", message="runs with 3 of 4 nodes"))
        first = job.token
        lost = slurm.named(job.hosts["node-0-2"])
        slurm.kill_node(slurm.nodes.index(lost))
        job.until(lambda: job.find(reason="NodesChanged", message="runs with 2 of 4 nodes"))
        slurm.declare_down(slurm.nodes.index(lost))

        (job.path / "output" / "go").touch()
        assert job.end()["succeeded"], job.said()
        assert (job.restarts, job.token) == (0, first)


def test_it_gives_up_a_node_when_told_to_and_grows_back_by_an_annex(tmp_path: Path) -> None:
    made = node(WAITS, 3, requests=ROOMY, completionMode="Indexed")
    made["template"]["metadata"] = {"annotations": {MIN_NODES: "2"}}
    with started(3) as slurm:
        job = DrivenJob(slurm, tmp_path, jobset(made), source="TrainJob")
        job.until(lambda: job.find(reason="NodesChanged", message="runs with 3 of 3 nodes"))
        first, given = job.token, job.hosts["node-0-2"]

        (job.path / "node-limit").write_text("1")  # never below the minimum
        job.until(lambda: job.find(reason="NodesChanged", message="runs with 2 of 3 nodes"))
        job.until(lambda: slurm.facts(job.number)["NumNodes"] == "2")
        other = slurm.submit("#!/bin/bash\nsleep 600\n", "--cpus-per-task=8", f"--nodelist={given}")
        slurm.wait_for_state(other, "RUNNING")

        (job.path / "node-limit").write_text("3")
        job.until(lambda: any((job.path / "annexes").iterdir()))
        (annex,) = (int(path.name) for path in (job.path / "annexes").iterdir())
        assert slurm.facts(annex)["JobState"] == "PENDING"
        slurm.run("scancel", str(other))
        job.until(lambda: len(job.find(message="runs with 3 of 3 nodes")) == 2)
        assert job.find(type="placement")[-1]["jobs"] == {given: str(annex)}

        slurm.run("scancel", str(annex))  # as Slurm does with a job that it preempts
        job.until(lambda: len(job.find(message="runs with 2 of 3 nodes")) == 2)
        job.until(lambda: len(job.find(message="runs with 3 of 3 nodes")) == 3)
        (job.path / "output" / "go").touch()
        assert job.end()["succeeded"], job.said()
        assert (job.restarts, job.token) == (0, first)
        slurm.wait_until_empty()
