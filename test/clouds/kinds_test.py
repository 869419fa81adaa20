"""Jobs of every kind on rented machines, and a cloud as one of several places."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from environments import require_mpirun
from installation import Installation
from moto_cloud import MotoCloud
from patience import until

pytestmark = pytest.mark.xdist_group("ssh")


def written(path: Path, kind: str, version: str, spec: dict[str, Any]) -> str:
    """A file with a job."""
    job = {"apiVersion": version, "kind": kind, "metadata": {"name": kind.lower()}, "spec": spec}
    path.write_text(yaml.safe_dump(job))
    return str(path)


def test_a_trainjob_runs_on_as_many_machines_as_it_has_nodes(
    user: Installation, paired_cloud: MotoCloud, tmp_path: Path
) -> None:
    trainer = {
        "numNodes": 2,
        "command": ["sh", "-c", "echo node $PET_NODE_RANK of $PET_NNODES is on $(uname -n)"],
        "resourcesPerNode": {"requests": {"cpu": "1"}},
    }
    spec = {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer}
    job = written(tmp_path / "job.yaml", "TrainJob", "trainer.kubeflow.org/v1alpha1", spec)
    said = user.run("run", "--on", "aws", job)
    lines = [line for line in said.splitlines() if "of 2 is on h" in line]
    assert len({line.rpartition(" ")[2] for line in lines}) == 2, said
    until(lambda: paired_cloud.living() == [], "machines are left")


def test_the_launcher_of_an_mpijob_shares_a_machine_with_a_worker(
    user: Installation, paired_cloud: MotoCloud, tmp_path: Path
) -> None:
    require_mpirun()
    root = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    program = ["mpirun", "sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK is on $(uname -n)"]
    launcher = {
        "name": "launcher",
        "image": "mpi",
        "command": program,
        "env": [{"name": name, "value": "1"} for name in root],
    }
    worker = {"name": "worker", "image": "mpi", "resources": {"requests": {"cpu": "1"}}}
    spec = {
        "mpiReplicaSpecs": {
            "Launcher": {"template": {"spec": {"containers": [launcher]}}},
            "Worker": {"replicas": 2, "template": {"spec": {"containers": [worker]}}},
        }
    }
    job = written(tmp_path / "job.yaml", "MPIJob", "kubeflow.org/v2beta1", spec)
    said = user.run("run", "--on", "aws", job)
    lines = [line for line in said.splitlines() if "is on h" in line]
    assert sorted(line.split("rank ")[1][0] for line in lines) == ["0", "1"], said
    assert len(paired_cloud.instances()) == 2


def test_a_job_for_which_this_machine_has_no_room_goes_to_a_cloud(
    user: Installation, paired_cloud: MotoCloud
) -> None:
    wanted = ("--on", "local,aws", "--cpus", "2", "--", "sh", "-c", "echo from $(uname -n)")
    first = json.loads(user.run("plan", "-o", "json", *wanted))
    assert first["chosen"] == "local"
    user.run("run", "-d", "--oversubscribe", "--cpus", "64", "--", "sleep", "600")
    until(
        lambda: json.loads(user.run("plan", "-o", "json", *wanted))["chosen"] == "aws",
        "this machine still has room",
    )
    (aws, local) = json.loads(user.run("plan", "-o", "json", *wanted))["offers"]
    assert (aws["fit"], aws["price"], local["fit"]) == ("rent", 0.096, "later")
    assert "from h" in user.run("run", *wanted)
    until(lambda: paired_cloud.living() == [], "machines are left")
