import pytest

from trainway.errors import UsageError
from trainway.jobset.labels import HANG_TIMEOUT
from trainway.sdk.hang_timeout import with_hang_timeout


def test_the_time_stands_on_the_job_and_on_nothing_else() -> None:
    job = {"kind": "TrainJob", "metadata": {"name": "a", "annotations": {"b": "c"}}}
    secret = {"kind": "Secret", "metadata": {"name": "s"}}
    marked, other = with_hang_timeout([job, secret], 90.0)
    assert marked["metadata"] == {"name": "a", "annotations": {"b": "c", HANG_TIMEOUT: "90"}}
    assert other == secret
    assert with_hang_timeout([job], None) == [job]


@pytest.mark.parametrize("seconds", [0, 0.5, -1, 1e12, float("inf"), float("nan")])
def test_a_time_that_makes_no_sense_is_refused(seconds: float) -> None:
    with pytest.raises(UsageError, match="is too short or too long for a hang timeout"):
        with_hang_timeout([], seconds)
