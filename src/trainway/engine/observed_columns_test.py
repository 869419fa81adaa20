from dataclasses import dataclass
from typing import Any

import pytest

from trainway.engine.observation import Observation
from trainway.engine.observed_columns import observed_columns
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord

CREATED = "2026-11-15T05:10:00Z"
STARTED = "2026-11-15T05:10:04Z"
NOW = "2026-11-15T06:00:00Z"
SUMMARY = "node-0 exited with 7 (attempt 1 of 1)"


@dataclass(frozen=True)
class Case:
    reason: str
    seconds: int
    """How long it was there."""
    limit: int | None
    expected: tuple[str, str]
    culprit: bool = False


@pytest.mark.parametrize(
    "case",
    [
        Case("FailedJobs", 90, 90, ("DeadlineExceeded", "it ran past its timeout of 1m30s")),
        Case("FailedJobs", 89, 90, ("FailedJobs", "said")),
        Case("FailedJobs", 91, 90, ("FailedJobs", SUMMARY), culprit=True),
        Case("FailedJobs", 3600, None, ("FailedJobs", "said")),
        Case("ReachedMaxRestarts", 3600, None, ("ReachedMaxRestarts", SUMMARY), culprit=True),
        Case("DoesNotFit", 3600, None, ("DoesNotFit", "said"), culprit=True),
        Case("DeadlineExceeded", 5, None, ("DeadlineExceeded", "it ran past its timeout")),
    ],
)
def test_a_failed_job_says_who_failed_or_for_what_its_backend_ended_it(case: Case) -> None:
    record = JobRecord(
        id="i", name="n", namespace="d", kind="JobSet", backend="k8s", phase=Phase.RUNNING,
        deadline_seconds=case.limit, created=CREATED,
    )  # fmt: skip
    minutes, seconds = divmod(case.seconds, 60)
    end: dict[str, Any] = {
        "succeeded": False,
        "reason": case.reason,
        "message": "said",
        "time": f"2026-11-15T{5 + (10 + minutes) // 60:02}:{(10 + minutes) % 60:02}:{seconds:02}Z",
    }
    culprit = {"pod": "node-0-0", "attempt": 0, "exitCode": 7} if case.culprit else {}
    observed = Observation(started=STARTED, end=end, culprit=culprit)
    columns = observed_columns(record, observed, schedules=True, now=NOW)
    assert (columns["reason"], columns["message"]) == case.expected
    assert columns["phase"] == Phase.FAILED
