"""Preemption by the server's queue on a real Slurm: a job is suspended, or gives up nodes."""

from pathlib import Path

import pytest
import yaml
from gate import Gate
from preemption_scenario import TEAM, plays, with_queue
from slurm_site import ON, SlurmSite, until

from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")

CPUS = 8
"""All that a node has."""


def test_a_job_makes_room_and_goes_on(slurm_site: SlurmSite, gate: Gate, tmp_path: Path) -> None:
    plays(slurm_site, ON, gate, tmp_path / "folder")


def test_an_elastic_job_gives_up_a_node_and_takes_it_back(
    idle_slurm_cluster: SlurmCluster, slurm_site: SlurmSite, gate: Gate, tmp_path: Path
) -> None:
    with_queue(slurm_site, tmp_path, cpu=4 * CPUS)
    marks = tmp_path / "marks"
    says = f'echo "$JOB_COMPLETION_INDEX $PET_NNODES $PET_RDZV_BACKEND" >> {marks}'
    trainer = {"command": ["sh", "-c", f"{says}; trap 'exit 0' TERM; while :; do sleep 0.1; done"]}
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "low"},
        "spec": {
            "runtimeRef": {"name": "torch-distributed"},
            "trainer": {**trainer, "resourcesPerNode": {"requests": {"cpu": str(CPUS)}}},
        },
    }
    file = tmp_path / "elastic.yaml"
    file.write_text(yaml.safe_dump(job))
    shared = ("--on", ON, "--queue", TEAM)
    low = slurm_site.submit(*shared, "--priority", "-1", "--nodes", "2:4", str(file))
    until(lambda: sizes(slurm_site, low) == ["runs with 4 of 4 nodes"], "it does not run")

    high = slurm_site.submit(*shared, "--cpus", str(CPUS), "--", *gate.command("high"))
    visitor = gate.next()
    assert idle_slurm_cluster.facts(slurm_site.slurm_job(low))["NumNodes"] == "3"
    visitor.let_go()
    slurm_site.run("jobs", "wait", high)

    told = [f"runs with {nodes} of 4 nodes" for nodes in (4, 3, 4)]
    until(lambda: sizes(slurm_site, low) == told, "it does not grow back")
    assert sorted(marks.read_text().splitlines()) == [
        f"{index} 2:4 c10d" for index in (0, 1, 2, 3, 3)
    ]
    there = slurm_site.run("jobs", "exec", low, "--rank", "3", "--", "printenv", "SLURM_JOB_ID")
    assert int(there) != slurm_site.slurm_job(low)
    slurm_site.run("jobs", "cancel", low)
    idle_slurm_cluster.wait_until_empty()
    assert slurm_site.job(low)["status"]["restarts"] == 0


def sizes(site: SlurmSite, job: str) -> list[str]:
    events = site.json("jobs", "events", job)["items"]
    return [event["message"] for event in events if event["reason"] == "NodesChanged"]
