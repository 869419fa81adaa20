from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from trainway.engine.checkpoint.annotation import checkpoint_errors, location_of
from trainway.jobset.labels import CHECKPOINT

ALONE = SimpleNamespace(name="tune", run=None)


@dataclass(frozen=True)
class Case:
    uri: str
    problem: str = ""


CASES = (
    Case("s3://bucket/run"),
    Case("gs://bucket/a/b/"),
    Case("s3://bucket", "must name a folder of the bucket, such as s3://bucket/run-1"),
    Case("hf://org/model", "must be in a bucket: s3://"),
    Case("/tmp/run", "is not a URI"),
    Case("s3://bucket/../x", '"." or ".."'),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.uri)
def test_where_checkpoints_can_be(case: Case) -> None:
    job = {"kind": "JobSet", "metadata": {"annotations": {CHECKPOINT: case.uri}}}
    errors = checkpoint_errors(job)
    assert bool(errors) == bool(case.problem)
    assert case.problem in "".join(map(str, errors))
    if not errors:
        assert str(location_of([{"metadata": 7}, job], ALONE)) == case.uri
        below = str(location_of([job], SimpleNamespace(name="tune-3", run="r")))
        assert below == f"{case.uri.removesuffix('/')}/tune-3"


def test_most_jobs_have_none() -> None:
    assert location_of([{"kind": "JobSet", "metadata": {}}], ALONE) is None
    assert checkpoint_errors({"metadata": None}) == []
