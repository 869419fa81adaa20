"""The cluster as pytest fixtures: one of four nodes for the session, and a Trainway beside it.

Where it cannot be had the tests are skipped with the reason; in CI they fail. Tests that use it
belong to the group "slurm", so that one worker of pytest-xdist has them all. A file whose tests
have only clusters of their own is a group of its own, which another worker may have meanwhile.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from environments import unavailable
from slurm_site import SlurmSite, site_of
from switch import UnavailableError

from slurm_cluster import SlurmCluster

NODES = 4
GPUS = 2


def started(nodes: int, **shape: Any) -> SlurmCluster:
    """A cluster of a test's own, where it can be had."""
    try:
        return SlurmCluster(nodes, **shape)
    except UnavailableError as error:
        unavailable(str(error))


@pytest.fixture(scope="session")
def slurm_cluster() -> Iterator[SlurmCluster]:
    """Four nodes on a network that can be cut, with all but slurmdbd and slurmrestd."""
    with started(
        NODES,
        gpus=GPUS,
        accounting="text",
        namespaces=True,
        preemption=True,
        memory_limits=True,
    ) as cluster:
        yield cluster


@pytest.fixture
def idle_slurm_cluster(slurm_cluster: SlurmCluster) -> Iterator[SlurmCluster]:
    """The same, with nothing on it; whatever a test does to it is undone."""
    slurm_cluster.wait_until_empty()
    slurm_cluster.wait_until_idle()
    yield slurm_cluster
    slurm_cluster.clear()


@pytest.fixture(scope="module")
def slurm_site(
    slurm_cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SlurmSite]:
    """The cluster as `slurm/test` of a Trainway that only the tests of a module use."""
    with site_of(slurm_cluster, tmp_path_factory.mktemp("slurm")) as site:
        yield site
