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


def test_folders_that_only_nodes_have_are_looked_for_there(
    slurm_site: SlurmSite, tmp_path: Path
) -> None:
    named = ("volumes", "apply", "-n", "scratch", "--type", "directory", "--infra", ON, "--path")
    done = slurm_site.start(*named, str(tmp_path / "none"))
    said, _ = done.communicate()
    assert done.returncode == 1, said
    assert f"config.host_path: {tmp_path / 'none'} does not exist on the nodes" in said
    assert slurm_site.run(*named, str(tmp_path)) == "scratch created\n"
    slurm_site.run("volumes", "delete", "scratch", "-y")
