"""The hosts as pytest fixtures: one network of four for the session, a pool for each test.

Where they cannot be had the tests are skipped with the reason; in CI they fail. Tests that use them
belong to the group "ssh", so that one worker of pytest-xdist has them all.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import unavailable
from ssh_pool import SshPool, pool_of
from switch import UnavailableError

from ssh_hosts import SshHosts

HOSTS = 4


@pytest.fixture(scope="session")
def ssh_hosts() -> Iterator[SshHosts]:
    """Four hosts that can be cut off."""
    try:
        hosts = SshHosts(HOSTS)
    except UnavailableError as error:
        unavailable(str(error))
    with hosts:
        yield hosts


@pytest.fixture
def ssh_pool(ssh_hosts: SshHosts, tmp_path: Path) -> Iterator[SshPool]:
    """The hosts as the pool `test` of a Trainway that nobody else uses."""
    with pool_of(ssh_hosts, tmp_path / "home") as pool:
        yield pool
