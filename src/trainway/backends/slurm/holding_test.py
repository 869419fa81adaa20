from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from trainway.backends.slurm.holding import Wanted, errors, held, script
from trainway.backends.slurm.section import ConfiguredCluster

WANTED = Wanted("01k9x", "dev", nodes=2, cpus=3.5, memory=2**30 + 1, gpus=0.5, accelerator="A100")
CLUSTER = ConfiguredCluster(
    "hpc",
    "login",
    partition="gpu",
    options={"account": "lab"},
    env={"PATH": "/opt/bin:/bin", "HF_TOKEN": "secret"},
    gpu_types={"A100": "a100x"},
)
SCRIPT = """\
#!/bin/bash
# Cluster dev of Trainway; `trainway status dev` shows it, `trainway down dev`
# gives it back.
#SBATCH --job-name=dev
#SBATCH --comment="trainway:01k9x cluster dev"
#SBATCH --output=slurm-%j.out
#SBATCH --no-requeue
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=1025M
#SBATCH --gres=gpu:a100x:1
#SBATCH --account=lab
#SBATCH --partition=gpu

export TRAINWAY_CLUSTER=dev
export TRAINWAY_JOB_DIR="$HOME"/.trainway/slurm/jobs/01k9x
export PATH=/opt/bin:/bin

exec srun --nodes=2 --ntasks-per-node=1 \\
  --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --mem=0 --mpi=none --input=none \\
  --kill-on-bad-exit=1 python3 "$TRAINWAY_JOB_DIR/agent.pyz" \\
  slurm host "$TRAINWAY_JOB_DIR/nodes"
"""


def test_the_script_runs_an_agent_on_each_node() -> None:
    assert script(WANTED, CLUSTER) == SCRIPT


@dataclass(frozen=True)
class Case:
    """What options make of the lines of sbatch."""

    options: dict[str, Any] = field(default_factory=dict)
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    wanted: Wanted = WANTED


@pytest.mark.parametrize(
    "case",
    [
        Case({"t": 60, "qos": "high"}, ("--time=60", "--qos=high")),
        Case({"partition": "long"}, ("--partition=long",), ("--partition=gpu",)),
        Case({"comment": "mine"}, ('--comment="trainway:01k9x cluster dev mine"',)),
        Case({"mem": "9G"}, ("--mem=9G",), ("--mem=1025M",)),
        Case({"cpus-per-task": 9}, ("--cpus-per-task=9",), ("--cpus-per-task=4",)),
        Case({"gres": "gpu:9"}, ("--gres=gpu:9",), ("gpu:a100x",)),
        Case({"account": False}, (), ("--account",)),
        Case({}, (), ("--mem=", "--gres"), replace(WANTED, memory=0, gpus=0, accelerator="")),
        Case({}, ("--gres=gpu:2",), (), replace(WANTED, gpus=2, accelerator="GPU:2")),
    ],
)
def test_options_take_the_place_of_our_lines(case: Case) -> None:
    text = script(replace(case.wanted, options=case.options), CLUSTER)
    lines = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    for line in case.has:
        assert f"#SBATCH {line}" in lines
    for part in case.lacks:
        assert not any(part in line for line in lines)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nodes", "--num-nodes"),
        ("N", "--num-nodes"),
        ("requeue", "trainway start"),
        ("hold", "nobody would release it"),
        ("output", "cannot be set"),
    ],
)
def test_options_that_would_break_a_cluster_are_refused(name: str, said: str) -> None:
    (error,) = errors({name: "1"})
    assert said in error
    assert error.startswith(f"{name}: ")


def test_secrets_go_to_pods_and_not_into_the_script() -> None:
    told = held(WANTED, CLUSTER)
    assert told["env"] == {"HF_TOKEN": "secret"}
    assert "secret" not in told["script"]
    assert told["cluster"]["login"] == "login"
