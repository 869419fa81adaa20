from typing import Any

import pytest

from trainway.api.timeout import past_timeout, timeout_errors, timeout_of
from trainway.jobset.labels import TIMEOUT_SECONDS


def job(value: Any) -> dict[str, Any]:
    return {"metadata": {"annotations": {TIMEOUT_SECONDS: value}}}


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (job("90"), 90),
        ({}, None),
        ({"metadata": None}, None),
        ({"metadata": {"annotations": 1}}, None),
    ],
)
def test_timeouts_are_read(given: dict[str, Any], seconds: int | None) -> None:
    assert (timeout_of(given), timeout_errors(given)) == (seconds, [])


@pytest.mark.parametrize("value", ["0", "-1", "2h", "", 90, "9" * 30, "1.5"])
def test_what_is_no_number_of_seconds_is_refused(value: Any) -> None:
    assert timeout_of(job(value)) is None
    (error,) = timeout_errors(job(value))
    assert str(error).startswith(f"metadata.annotations[{TIMEOUT_SECONDS}]: Invalid value: ")
    assert str(error).endswith(": must be a number of seconds")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(7200, " of 2h"), (90, " of 1m30s"), (86461, " of 1d1m1s"), (1, " of 1s"), (None, "")],
)
def test_what_is_said_of_a_job_that_took_too_long(seconds: int | None, text: str) -> None:
    assert past_timeout(seconds) == f"it ran past its timeout{text}"
