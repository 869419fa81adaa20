"""Buckets of tasks on Slurm, in an allocation of two nodes."""

from dataclasses import replace
from pathlib import Path

import pytest
from s3_server import running
from slurm_site import ON, SlurmSite
from storage_scenario import check_stored, stored_task

pytestmark = pytest.mark.xdist_group("slurm")


def test_two_nodes_share_buckets(slurm_site: SlurmSite, tmp_path: Path) -> None:
    address = slurm_site.slurm.need_network().address(1)
    with running(tmp_path, address) as server:
        task = stored_task(server, "two-nodes", tmp_path, "/stored/here", nodes=2)
        site = replace(slurm_site, variables={**slurm_site.variables, **server.variables()})
        check_stored(server, "two-nodes", site.run("run", task, "--on", ON), nodes=2)
