"""The examples end alike on this machine and on Slurm, each on several nodes."""

from collections.abc import Iterator

import pytest
from environments import TORCH, environment, require_mpirun
from example_table import EXAMPLES, LOCAL, Example, Place
from slurm_fixtures import slurm_cluster
from slurm_site import ON, SlurmSite, site_of

from slurm_cluster import SlurmCluster

__all__ = ["slurm_cluster"]

pytestmark = pytest.mark.xdist_group("slurm")


@pytest.fixture(scope="module")
def site(
    slurm_cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SlurmSite]:
    require_mpirun()
    variables = environment(*TORCH).variables()
    # What the nodes give to a job that asks for none is too little for torch.
    with site_of(slurm_cluster, tmp_path_factory.mktemp("slurm"), variables, mem="4G") as made:
        yield made


@pytest.fixture(scope="module")
def places(site: SlurmSite) -> dict[str, Place]:
    return {on: Place(site, on) for on in (LOCAL, ON)}


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_ends_alike_on_slurm(
    example: Example, site: SlurmSite, places: dict[str, Place]
) -> None:
    result = places[ON].result(example)

    assert result == places[LOCAL].result(example)
    jobs = site.json("jobs", "list", "--all", "--name", example.name)["items"]
    (job,) = (each["metadata"]["id"] for each in jobs if each["spec"]["backend"] == ON)
    hosts = {node.get("host") for node in site.job(job)["status"]["nodes"]}
    assert len(hosts & {node.name for node in site.slurm.nodes}) >= 2
