from dataclasses import dataclass

import pytest

from trainway.json_types import Json
from trainway.operator.trainjobs.vanished import ended_jobset

LISTED = [{"name": "node", "active": 1}]
JOB: Json = {
    "metadata": {"name": "t", "creationTimestamp": "2026-01-31T12:00:00Z"},
    "status": {"jobsStatus": LISTED},
}


def event(reason: str, time: str, field: str = "lastTimestamp") -> Json:
    return {"reason": reason, "message": f"said {reason}", field: time}


DONE = event("AllJobsCompleted", "2026-01-31T12:05:00Z")
NEWER_API = event("AllJobsCompleted", "2026-01-31T12:05:00.123456Z", "eventTime")
BEFORE = event("AllJobsCompleted", "2026-01-31T11:00:00Z")
RESTART = event("RestartJobSetFailurePolicyAction", "2026-01-31T12:01:00Z")
FAILED = event("ReachedMaxRestarts", "2026-01-31T12:06:00Z")


@dataclass(frozen=True)
class Case:
    name: str
    events: list[Json]
    expected: tuple[str, str] | None


CASES = [
    Case("nothing is told", [], None),
    Case("done", [RESTART, DONE], ("Completed", "AllJobsCompleted")),
    Case("done, told in the newer API", [NEWER_API], ("Completed", "AllJobsCompleted")),
    Case("failed", [RESTART, FAILED], ("Failed", "ReachedMaxRestarts")),
    Case("only restarted", [RESTART], None),
    Case("of a JobSet before this TrainJob", [BEFORE], None),
    Case("an event without a time", [{"reason": "AllJobsCompleted"}], None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_events_tell_how_a_jobset_ended(case: Case) -> None:
    found = ended_jobset(JOB, case.events)
    if case.expected is None:
        assert found is None
        return
    assert found is not None
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == case.expected
    assert condition["lastTransitionTime"] in ("2026-01-31T12:05:00Z", "2026-01-31T12:06:00Z")
    assert condition["message"] == f"said {case.expected[1]}"
    assert found["status"]["replicatedJobsStatus"] == LISTED
