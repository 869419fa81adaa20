"""The fixtures of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import dashboard, shared_chromium, shared_dashboard
from cloud_stores import cloud_store
from example_table import yardstick
from gate import Gate, opened
from installation import Installation, installed
from s3_server import s3_server
from slurm_fixtures import idle_slurm_cluster, slurm_cluster, slurm_site
from ssh_fixtures import ssh_hosts, ssh_pool

__all__ = [
    "cloud_store",
    "dashboard",
    "idle_slurm_cluster",
    "s3_server",
    "shared_chromium",
    "shared_dashboard",
    "slurm_cluster",
    "slurm_site",
    "ssh_hosts",
    "ssh_pool",
    "yardstick",
]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Installation]:
    """A user's Trainway, for one test; modules whose tests can share one have their own."""
    with installed(tmp_path) as installation:
        yield installation


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Where processes of jobs wait until the test lets them go."""
    with opened() as gate:
        yield gate
