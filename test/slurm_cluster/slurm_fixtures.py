"""The cluster as pytest fixtures: one of four nodes for the session, idle for each test.

Where it cannot be had the tests are skipped with the reason; in CI they fail. Tests that use it
belong to the group "slurm", so that one worker of pytest-xdist has them all.
"""

from collections.abc import Iterator

import pytest
from environments import unavailable
from slurm_configuration import Accounting
from switch import UnavailableError

from slurm_cluster import SlurmCluster

NODES = 4
GPUS = 2
ACCOUNTING: Accounting = "text"


@pytest.fixture(scope="session")
def slurm_cluster() -> Iterator[SlurmCluster]:
    """Four nodes on a network that can be cut, with all but slurmdbd and slurmrestd."""
    try:
        cluster = SlurmCluster(
            NODES,
            gpus=GPUS,
            accounting=ACCOUNTING,
            namespaces=True,
            preemption=True,
            memory_limits=True,
        )
    except UnavailableError as error:
        unavailable(str(error))
    with cluster:
        yield cluster


@pytest.fixture
def idle_slurm_cluster(slurm_cluster: SlurmCluster) -> Iterator[SlurmCluster]:
    """The same; whatever a test does to it is undone."""
    yield slurm_cluster
    slurm_cluster.clear()
