from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from trainway.jobset.labels import HANG_REPORTED, HANG_TIMEOUT
from trainway.json_types import Json
from trainway.operator.trainjobs.hang import Watch, hang

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
LAST = "2026-01-31T11:58:00Z"
PROGRESS: Json = {
    "progressPercentage": 40,
    "lastUpdatedTime": LAST,
    "metrics": [{"name": "loss", "value": "0.5"}],
}


def condition(type_: str, status: str, time: str) -> Json:
    return {"type": type_, "status": status, "lastTransitionTime": time}


@dataclass(frozen=True)
class Case:
    name: str
    expected: Watch
    timeout: str | None = "60"
    progress: Json | None = field(default_factory=lambda: PROGRESS)
    conditions: list[Json] = field(default_factory=list)
    reported: str = ""
    suspend: bool = False


HANGS = Watch(
    report=f"no progress for 120 s; last progress 40 %, loss=0.5 at {LAST}",
    mark=LAST,
)
RESUMED = condition("Suspended", "False", "2026-01-31T11:59:30Z")

CASES = [
    Case("silent for too long", HANGS),
    Case("silent, but not for long", Watch(timedelta(seconds=30)), timeout="150"),
    Case("silent for the very time", HANGS, timeout="120"),
    Case("told already", Watch(), reported=LAST),
    Case("told of earlier progress", HANGS, reported="2026-01-31T11:00:00Z"),
    Case("never reported", Watch(), progress=None),
    Case("no timeout", Watch(), timeout=None),
    Case("a bad timeout", Watch(), timeout="0"),
    Case("suspended", Watch(), suspend=True),
    Case("resumed a moment ago", Watch(timedelta(seconds=30)), conditions=[RESUMED]),
    Case("complete", Watch(), conditions=[condition("Complete", "True", LAST)]),
    Case("failed", Watch(), conditions=[condition("Failed", "True", LAST)]),
    Case(
        "without figures",
        Watch(report=f"no progress for 120 s; last progress at {LAST}", mark=LAST),
        progress={"lastUpdatedTime": LAST},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_job_that_stops_reporting_is_noticed(case: Case) -> None:
    annotations = {HANG_TIMEOUT: case.timeout, HANG_REPORTED: case.reported}
    job = {
        "metadata": {"annotations": {name: text for name, text in annotations.items() if text}},
        "spec": {"suspend": case.suspend},
        "status": {"conditions": case.conditions, "trainerStatus": case.progress},
    }
    assert hang(job, NOW) == case.expected
