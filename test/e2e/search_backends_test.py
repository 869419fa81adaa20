"""Searches whose trials are jobs on hosts and on Slurm: see `search_scenario.py`."""

from pathlib import Path

import pytest
from search_scenario import assert_two_searches_run
from slurm_site import ON as SLURM
from slurm_site import SlurmSite
from ssh_pool import ON as HOSTS
from ssh_pool import SshPool


@pytest.mark.xdist_group("ssh")
def test_searches_on_hosts(ssh_pool: SshPool, tmp_path: Path) -> None:
    assert_two_searches_run(ssh_pool, HOSTS, tmp_path)


@pytest.mark.xdist_group("slurm")
def test_searches_on_slurm(slurm_site: SlurmSite, tmp_path: Path) -> None:
    assert_two_searches_run(slurm_site, SLURM, tmp_path)
