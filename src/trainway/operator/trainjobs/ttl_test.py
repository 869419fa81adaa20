from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from trainway.jobset.labels import TTL_SECONDS
from trainway.json_types import Json
from trainway.operator.trainjobs.ttl import time_to_live

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


def condition(type_: str, status: str = "True") -> Json:
    return {"type": type_, "status": status, "lastTransitionTime": "2026-01-31T11:59:00Z"}


@dataclass(frozen=True)
class Case:
    name: str
    expected: int | None
    conditions: list[Json] = field(default_factory=list)
    ttl: str = "100"


CASES = [
    Case("still runs", None),
    Case("suspended", None, [condition("Suspended")]),
    Case("not yet", 40, [condition("Complete")]),
    Case("failed jobs too", 40, [condition("Suspended", "False"), condition("Failed")]),
    Case("now", 0, [condition("Complete")], ttl="60"),
    Case("long ago", 0, [condition("Complete")], ttl="0"),
    Case("a condition that does not hold", None, [condition("Failed", "False")]),
    Case("a bad number", None, [condition("Complete")], ttl="soon"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_how_long_a_finished_job_is_kept(case: Case) -> None:
    metadata = {"annotations": {TTL_SECONDS: case.ttl}}
    job = {"metadata": metadata, "status": {"conditions": case.conditions}}
    expected = None if case.expected is None else timedelta(seconds=case.expected)
    assert time_to_live(job, NOW) == expected


def test_without_the_annotation_a_job_stays() -> None:
    job = {"metadata": {}, "status": {"conditions": [condition("Complete")]}}
    assert time_to_live(job, NOW) is None
