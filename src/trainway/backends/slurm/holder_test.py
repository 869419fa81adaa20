from pathlib import Path

import pytest

from trainway.backends.slurm.holder import SlurmHolder
from trainway.backends.slurm.sites import ConfiguredClusters
from trainway.errors import InvalidError
from trainway.json_types import Json

CLUSTERS = "clusters: {hpc: {login: login}}"
AVOIDED = ["n3"]


def cluster(**options: str) -> Json:
    amounts = {"id": "x", "name": "dev", "nodes": 2, "cpus": 1.0, "memory": 0, "gpus": 0}
    return {**amounts, "slurm": {"options": options, "accelerator": ""}}


@pytest.fixture
def holder(tmp_path: Path) -> SlurmHolder:
    (tmp_path / "config.yaml").write_text(CLUSTERS)
    return SlurmHolder(ConfiguredClusters(tmp_path, tmp_path), lambda _cluster: AVOIDED)


def test_the_agent_is_told_of_the_batch_job(holder: SlurmHolder) -> None:
    order = holder.order("slurm/hpc/gpu", cluster(qos="high"))
    assert (order["name"], order["slurm"]["cluster"]["name"]) == ("dev", "hpc")
    assert "#SBATCH --partition=gpu" in order["slurm"]["script"]
    assert "#SBATCH --qos=high" in order["slurm"]["script"]
    assert "#SBATCH --exclude=n3" in order["slurm"]["script"]


def test_options_that_cannot_be_set_are_refused(holder: SlurmHolder) -> None:
    with pytest.raises(InvalidError, match="nodes: cannot be set: --num-nodes says"):
        holder.order("slurm/hpc", cluster(nodes="3"))
