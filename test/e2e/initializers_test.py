"""Initializers on this machine, with a real S3 and a hub of the tests."""

import subprocess
from pathlib import Path

import pytest
from initializer_job import FETCHED, MODEL, bucket_variables, filled, said, train_job, written
from installation import Installation, installed
from s3_server import S3Server

from trainway.data.hub_testing import PretendedHub, served

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("s3")]


def test_two_jobs_at_once_fetch_once(s3_server: S3Server, tmp_path: Path) -> None:
    data, keys = filled(s3_server, "initializer"), bucket_variables(s3_server)
    with (
        served(PretendedHub(MODEL)) as hub,
        installed(tmp_path) as home,
    ):
        jobs = [train_job(f"job-{n}", tmp_path / "cache", data, hub, keys) for n in range(2)]
        files = [written(tmp_path, job) for job in jobs]
        home.run("jobs", "list")  # the server runs
        printed = outputs(home, files)

        assert sorted(hub.ranges) == sorted(set(hub.ranges))
        assert {name for name, _ in hub.ranges} == {"config.json", "model.safetensors"}
    for text in printed:
        for rank in range(2):
            assert said(text, f"node-{rank}") == FETCHED


def test_the_example_has_its_data(home: Installation) -> None:
    printed = home.run("run", "examples/initializer.yaml")
    assert "GPL-3" in printed
    assert "LGPL" not in printed
    assert printed.rstrip().endswith("fetched")


def outputs(home: Installation, files: list[str]) -> list[str]:
    """Run jobs at the same time, and give what each printed."""
    started = [home.start("run", file, stderr=subprocess.PIPE) for file in files]
    found = []
    for process in started:
        printed, wrong = process.communicate(timeout=300)
        assert process.returncode == 0, printed + wrong
        found.append(printed)
    return found
