"""Initializers on Slurm, where the nodes share the folder of the job."""

from dataclasses import replace
from pathlib import Path

import pytest
from initializer_job import FETCHED, MODEL, bucket_variables, filled, said, train_job, written
from s3_server import S3Server, running
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


def test_what_nodes_have_written_is_exported(slurm_site: SlurmSite, s3_server: S3Server) -> None:
    bucket = s3_server.bucket("nodes")
    user = replace(slurm_site, variables={**slurm_site.variables, **s3_server.variables()})
    writes = 'echo $JOB_COMPLETION_INDEX > "$TRAINWAY_OUTPUT_DIR/rank-$JOB_COMPLETION_INDEX"'
    user.run("server", "stop")  # the next one has the variables of whoever starts it
    words = ("--on", ON, "--nodes", "2", "--export", "s3://nodes/run")

    user.run("run", *words, "--", "sh", "-c", writes)

    assert sorted(path.name for path in (bucket / "run").iterdir()) == ["rank-0", "rank-1"]
