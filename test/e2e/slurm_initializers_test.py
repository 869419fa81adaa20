"""Initializers on Slurm, where the nodes share the folder of the job."""

from pathlib import Path

import pytest
from initializer_job import FETCHED, MODEL, bucket_variables, filled, said, train_job, written
from s3_server import running
from slurm_site import ON, SlurmSite

from trainway.data.hub_testing import PretendedHub, served

pytestmark = pytest.mark.xdist_group("slurm")


def test_all_nodes_have_the_data(slurm_site: SlurmSite, tmp_path: Path) -> None:
    this_machine = slurm_site.slurm.place.address
    with served(PretendedHub(MODEL), this_machine) as hub, running(tmp_path, this_machine) as s3:
        data, keys = filled(s3, "initializer"), bucket_variables(s3)
        job = train_job("fetches", tmp_path / "cache", data, hub, keys)
        printed = slurm_site.run("run", written(tmp_path, job), "--on", ON)

    for rank in range(2):
        assert said(printed, f"node-{rank}") == FETCHED, printed
    assert sorted(hub.ranges) == sorted(set(hub.ranges))
