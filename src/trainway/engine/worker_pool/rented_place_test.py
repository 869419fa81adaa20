"""The place of a job with rented machines, there and back."""

import pytest

from trainway.engine.worker_pool.rented_place import (
    is_on_spot,
    place_again,
    place_label,
    spot_label,
)
from trainway.jobset.label_syntax import value_problem

POOL = "worker-pool/for-1"


@pytest.mark.parametrize("place", ["cloud", "aws", "aws/us-east-1/us-east-1a", "gcp/*/us-east1-b"])
def test_a_job_goes_where_machines_were_rented_for_it(place: str) -> None:
    label = place_label(place)
    assert [value_problem(value) for value in label.values()] == [None]
    assert place_again(POOL, label) == place


def test_other_jobs_go_where_they_were() -> None:
    assert place_again("worker-pool/mine", {}) == "worker-pool/mine"
    assert place_again("slurm/hpc", place_label("aws")) == "slurm/hpc", "it had moved there"


@pytest.mark.parametrize("use_spot", [True, False])
def test_a_job_has_spot_machines_again(use_spot: bool) -> None:
    assert is_on_spot(spot_label(use_spot=use_spot)) == use_spot
