"""The golden scripts of the Slurm backend: `sbatch` takes them, and their steps start."""

from pathlib import Path

import pytest

import trainway
from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")

GOLDEN = Path(trainway.__file__).parent / "backends" / "slurm" / "testdata"
SCRIPTS = ("torch-ddp", "mpi", "task", "two-roles", "apptainer", "array", "scattered")
"""All but that for Pyxis, whose options Debian's Slurm does not have."""
PRINT = (
    'sh -c \'set -- $(echo $CUDA_VISIBLE_DEVICES | tr , " "); '
    "echo $SLURM_PROCID/$SLURM_NTASKS cpus=$SLURM_CPUS_PER_TASK gpus=$#'"
)


def steps_only(text: str) -> str:
    """The script with each step in turn where the driver would be."""
    head, _, _ = text.partition("\nexec ")
    names = [line.partition("=")[0] for line in head.splitlines() if line.startswith("step_")]
    lines = [f'"${{{name}[@]}}" {PRINT}' for name in names if not name.endswith("_within")]
    return "\n".join([head, "set -e", *lines, ""])


@pytest.mark.parametrize("name", SCRIPTS)
def test_sbatch_takes_the_script_as_it_is(slurm_cluster: SlurmCluster, name: str) -> None:
    slurm_cluster.run("sbatch", "--test-only", str(GOLDEN / f"{name}.sbatch"))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("torch-ddp", ["0/2 cpus=1 gpus=0", "1/2 cpus=1 gpus=0"]),
        ("mpi", ["0/1 cpus=1 gpus=0", "0/2 cpus=1 gpus=0", "1/2 cpus=1 gpus=0"]),
        (
            "two-roles",
            [
                "0/2 cpus=4 gpus=1",
                "0/3 cpus=1 gpus=0",
                "1/2 cpus=4 gpus=1",
                "1/3 cpus=1 gpus=0",
                "2/3 cpus=1 gpus=0",
            ],
        ),
    ],
)
def test_the_steps_of_the_script_start(
    idle_slurm_cluster: SlurmCluster, name: str, wanted: list[str]
) -> None:
    cluster = idle_slurm_cluster
    job = cluster.submit(steps_only((GOLDEN / f"{name}.sbatch").read_text()))
    assert cluster.wait_for_end(job) == "COMPLETED", cluster.output(job)
    assert sorted(cluster.output(job).splitlines()) == wanted
