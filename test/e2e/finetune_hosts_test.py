"""`trainway finetune` on SSH hosts and on Slurm: a tiny model on two nodes that share nothing."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from environments import REPOSITORY, TORCH, TRL, environment
from s3_server import S3Server
from slurm_site import ON as ON_SLURM
from slurm_site import SlurmSite
from ssh_pool import ON, SshPool

pytestmark = pytest.mark.engine

FEW = ("max_length=64", "max_steps=2", "batch_size=2", "--nodes", "2")


@pytest.fixture(scope="module")
def variables() -> dict[str, str]:
    """What a user of the hosts would have in their shell there."""
    added = {"PYTHONPATH": str(environment(*TRL).packages), "OMP_NUM_THREADS": "1"}
    return {**environment(*TORCH).variables(), **added}


@pytest.fixture(scope="module")
def tiny(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    folder.chmod(0o755)
    program = REPOSITORY / "examples" / "tiny_llm.py"
    python = Path(variables["VIRTUAL_ENV"], "bin", "python")
    subprocess.run([python, program, folder], env=variables, check=True)
    return folder


def words(tiny: Path, variables: dict[str, str]) -> tuple[str, ...]:
    told = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
    return (str(tiny / "model"), str(tiny / "data"), *FEW, *told)


@pytest.mark.xdist_group("ssh")
def test_hosts_tune_a_model_and_it_is_exported(
    ssh_pool: SshPool, s3_server: S3Server, tiny: Path, variables: dict[str, str]
) -> None:
    bucket = s3_server.bucket("tuned-on-hosts")
    user = replace(ssh_pool, variables={**ssh_pool.variables, **s3_server.variables()})
    printed = user.run("finetune", *words(tiny, variables), "--on", ON, "--name", "tuned",
                       "--output", f"s3://{bucket.name}/run")  # fmt: skip
    assert "2 processes, a copy in each (DDP)" in printed
    hosts = {host for placed in user.placements(user.job("tuned")["metadata"]["id"])
             for host in placed.values()}  # fmt: skip
    assert len(hosts) == 2
    _check(bucket / "run")


@pytest.mark.xdist_group("slurm")
def test_slurm_tunes_a_model(
    slurm_site: SlurmSite, tiny: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    place = ("--on", ON_SLURM, "--output", str(tmp_path / "out"))
    printed = slurm_site.run("finetune", *words(tiny, variables), *place)
    assert "2 processes, a copy in each (DDP)" in printed
    _check(tmp_path / "out")


def _check(output: Path) -> None:
    result = json.loads((output / "finetune.json").read_text())
    assert result["steps"] == 2
    assert (output / "adapter" / "adapter_model.safetensors").exists()
    assert (output / "model" / "model.safetensors").exists()
