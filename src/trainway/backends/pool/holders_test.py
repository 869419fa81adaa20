from pathlib import Path

import pytest

from trainway.backends.base import BackendSettings
from trainway.backends.pool.holders import Holders
from trainway.backends.registry import Registry
from trainway.errors import UsageError


def holders(home: Path) -> Holders:
    return Holders(Registry(BackendSettings(home)).get)


@pytest.mark.parametrize(
    ("cloud", "region", "infra"),
    [(None, None, "local"), ("local", None, "local"), ("ssh", "lab", "ssh/lab"),
     ("ssh", None, "ssh/lab")],
)  # fmt: skip
def test_where_clusters_can_be(
    tmp_path: Path, cloud: str | None, region: str | None, infra: str
) -> None:
    (tmp_path / "config.yaml").write_text("pools: {lab: {hosts: [a1]}}")
    found = holders(tmp_path)
    assert found.infra(cloud, region) == infra
    assert found.of(infra).pool(infra, "dev") == ("local-clusters" if infra == "local" else "lab")


CLUSTERS = "clusters: {hpc: {login: login, outputs: keep}, apart: {login: login, shared: false}}"


@pytest.mark.parametrize(
    ("region", "zone", "infra"),
    [("hpc", None, "slurm/hpc"), ("hpc", "gpu", "slurm/hpc/gpu")],
)
def test_clusters_can_be_on_slurm(
    tmp_path: Path, region: str, zone: str | None, infra: str
) -> None:
    (tmp_path / "config.yaml").write_text(CLUSTERS)
    found = holders(tmp_path)
    assert found.infra("slurm", region, zone) == infra
    assert found.of(infra).pool(infra, "dev") == "slurm+hpc"
    assert found.of(infra).hosts(infra) == [], "Slurm says which they are"
    assert found.of(infra).outputs(infra) == "keep"


def test_a_cluster_without_a_shared_file_system_cannot_be_held(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CLUSTERS)
    with pytest.raises(UsageError, match="a file system that all its nodes see"):
        holders(tmp_path).infra("slurm", "apart")


@pytest.mark.parametrize(
    ("region", "zone", "infra"),
    [
        (None, None, "aws"),
        ("us-east-1", None, "aws/us-east-1"),
        ("us-east-1", "us-east-1a", "aws/us-east-1/us-east-1a"),
        (None, "us-east-1a", "aws/*/us-east-1a"),
    ],
)
def test_clusters_can_be_on_rented_machines(
    tmp_path: Path, region: str | None, zone: str | None, infra: str
) -> None:
    found = holders(tmp_path)
    assert found.infra("aws", region, zone) == infra
    assert found.of(infra).pool(infra, "dev") == "cloud+dev", "nobody else has its machines"
    assert found.of(infra).hosts(infra) == [], "they are not rented yet"
    assert found.of(infra).outputs(infra) == "copy"


@pytest.mark.parametrize("cloud", ["kubernetes", "ibm"])
def test_where_they_come_later(tmp_path: Path, cloud: str) -> None:
    with pytest.raises(UsageError, match=f"clusters on {cloud} are not supported yet"):
        holders(tmp_path).infra(cloud, None)
