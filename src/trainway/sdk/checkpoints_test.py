import pytest

from trainway.errors import UsageError
from trainway.jobset.labels import CHECKPOINT
from trainway.sdk.checkpoints import with_checkpoint


def test_the_job_names_the_bucket() -> None:
    job, secret = {"kind": "TrainJob", "metadata": {"name": "a"}}, {"kind": "Secret"}
    told, other = with_checkpoint([job, secret], "s3://bucket/run")
    assert told["metadata"] == {"name": "a", "annotations": {CHECKPOINT: "s3://bucket/run"}}
    assert other == secret
    assert with_checkpoint([job], None) == [job]


@pytest.mark.parametrize("uri", ["s3://bucket", "/tmp/x", "hf://org/model", "s3://"])
def test_what_is_no_folder_of_a_bucket_is_refused(uri: str) -> None:
    with pytest.raises(UsageError):
        with_checkpoint([], uri)
