"""Preemption by the server's queue on a real Slurm: the batch job is suspended, and comes again."""

from pathlib import Path

import pytest
from gate import Gate
from preemption_scenario import plays
from slurm_site import ON, SlurmSite

pytestmark = pytest.mark.xdist_group("slurm")


def test_a_job_makes_room_and_goes_on(slurm_site: SlurmSite, gate: Gate, tmp_path: Path) -> None:
    plays(slurm_site, ON, gate, tmp_path / "folder")
