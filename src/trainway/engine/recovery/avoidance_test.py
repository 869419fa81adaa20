from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from trainway.engine.recovery.avoidance import (
    Avoided,
    avoidances_view,
    free,
    soonest,
    with_failure,
)
from trainway.engine.times import time_text
from trainway.jobset.status import moment

NOW = datetime(2026, 11, 18, tzinfo=UTC)


@dataclass(frozen=True)
class Case:
    name: str
    failures_before: int
    chance: float
    wanted: int
    seconds: float


CASES = [
    Case("first", 0, 0.0, 1, 60),
    Case("chance", 0, 1.0, 1, 90),
    Case("doubles", 1, 0.0, 2, 120),
    Case("again", 3, 0.5, 4, 600),
    Case("upper-limit", 60, 0.0, 61, 3600),
    Case("upper-limit-and-chance", 60, 1.0, 61, 5400),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_failure_is_avoided_for_longer(case: Case) -> None:
    before = {"a": Avoided("a", case.failures_before, time_text(NOW), "x")}
    known = before if case.failures_before else {}
    after = with_failure(known, "a", "its host was lost", NOW, case.chance)["a"]
    assert after.failures == case.wanted
    assert moment(after.until) == NOW + timedelta(seconds=case.seconds)


def test_a_place_that_was_good_for_an_hour_begins_anew() -> None:
    known = {"a": Avoided("a", 5, time_text(NOW), "x")}
    later = NOW + timedelta(hours=1)
    assert with_failure(known, "a", "x", later, 0.0)["a"].failures == 1
    sooner = later - timedelta(seconds=1)
    assert with_failure(known, "a", "x", sooner, 0.0)["a"].failures == 6


def test_what_is_avoided_is_free_again_when_its_time_is_over() -> None:
    known = with_failure({}, "a", "x", NOW, 0.0)
    known = with_failure(known, "b", "x", NOW, 1.0)
    known = with_failure(known, "c", "it refuses", NOW, 0.0, is_spent=True)
    places = ["a", "b", "c", "d"]
    assert free(known, places, NOW) == ["d"]
    assert free(known, places, NOW + timedelta(seconds=60)) == ["a", "d"]
    assert free(known, places, NOW + timedelta(days=9)) == ["a", "b", "d"]
    found = soonest(known, ["b", "a", "c"])
    assert found is not None
    assert found.place == "a"
    assert soonest(known, ["c"]) is None


def test_what_is_avoided_is_shown_with_its_reason() -> None:
    known = with_failure({}, "a", "its host was lost", NOW, 0.0)
    known = with_failure(known, "c", "it refuses", NOW, 0.0, is_spent=True)
    (first, second) = avoidances_view(known)
    assert first == {
        "place": "a",
        "failures": 1,
        "until": time_text(NOW + timedelta(seconds=60)),
        "reason": "its host was lost",
    }
    assert second["until"] is None
