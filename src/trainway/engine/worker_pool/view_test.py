"""What a job of a worker pool is told while it waits."""

import json

import pytest

from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.worker_pool.record import WorkerPoolRecord, WorkerRecord
from trainway.engine.worker_pool.size import Size
from trainway.engine.worker_pool.state import WorkerState
from trainway.engine.worker_pool.view import why_none

RENTING = "renting 2 machines: m5.large at aws/us-east-1"


@pytest.mark.parametrize(
    ("goes_with_jobs", "message", "told"),
    [
        (True, RENTING, f"waits for its machines: {RENTING}"),
        (True, "", "waits for its machines"),
        (False, RENTING, "waits for a worker of the worker pool p; none is ready yet"),
    ],
)
def test_a_job_is_told_what_its_machines_wait_for(
    goes_with_jobs: bool, message: str, told: str
) -> None:
    size = Size(0, 1, goes_with_jobs=goes_with_jobs)
    pool = WorkerPoolRecord(
        name="p", id="1", infra="aws", agent="a", nodes=2, resources="{}",
        size=json.dumps(size.to_dict()), created="",
    )  # fmt: skip
    worker = WorkerRecord(
        id="2", pool="p", number=1, name="p-1", version=1, created="", state=WorkerState.STARTING
    )
    cluster = ClusterRecord(
        name="p-1", id="3", infra="aws", pool="a", nodes=2, resources="{}", message=message
    )
    assert why_none(pool, [worker], {"p-1": cluster}) == told
