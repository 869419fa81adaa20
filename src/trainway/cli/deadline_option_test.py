from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from trainway.cli.deadline_option import check_deadline, deadline_sent, deadline_time
from trainway.cli.spot_option import check_spot
from trainway.errors import UsageError

NOW = datetime(2026, 11, 18, tzinfo=UTC)


def test_a_deadline_is_a_duration_or_a_time() -> None:
    assert deadline_time("8h", NOW) == "2026-11-18T08:00:00+00:00"
    assert deadline_time("2026-11-20T08:00+02:00", NOW) == "2026-11-20T06:00:00+00:00"
    there = datetime.fromisoformat("2026-11-20T08:00").astimezone(UTC)
    assert deadline_time("2026-11-20T08:00", NOW) == there.isoformat()


@dataclass(frozen=True)
class Case:
    options: dict[str, Any]
    on: str | None
    words: str


CASES = [
    Case({"work": "5h"}, "a,b", "--work is for --deadline"),
    Case({"deadline": "8h"}, "a,b", "--deadline needs --work"),
    Case({"deadline": "8h", "work": "5h"}, "a", "--deadline needs several places"),
    Case({"deadline": "8h", "work": "5h"}, None, "--deadline needs several places"),
    Case({"deadline": "8h", "work": "5h"}, "any", "of which the last one is sure"),
    Case({"deadline": "soon", "work": "5h"}, "a,b", "not a deadline: 'soon'"),
    Case({"deadline": "99999999999d", "work": "5h"}, "a,b", "not a deadline"),
    Case({"deadline": "9999-12-31T23:00-12:00", "work": "5h"}, "a,b", "not a deadline: '9999"),
    Case({"deadline": "8h", "work": "much"}, "a,b", "not a duration: 'much'"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_what_is_wrong_is_said_before_anything_is_sent(case: Case) -> None:
    with pytest.raises(UsageError, match=case.words):
        check_deadline(case.options, case.on)


def test_what_is_sent() -> None:
    assert deadline_sent({}, "a,b") == {}
    sent = deadline_sent({"deadline": "2026-11-20T08:00Z", "work": "5h"}, "a, b")
    assert sent == {"deadline": "2026-11-20T08:00:00+00:00", "work": 18000.0, "sure": "b"}
    check_deadline({"deadline": "8h", "work": "5h"}, "a,b")


def test_a_cloud_has_a_cheap_and_a_sure_place_by_itself() -> None:
    check_deadline({"deadline": "8h", "work": "5h"}, "aws/us-east-1")


@pytest.mark.parametrize(("on", "is_fine"), [("aws", True), ("local,aws", True), (None, False)])
def test_spot_machines_are_for_clouds(on: str | None, is_fine: bool) -> None:
    check_spot({"use_spot": False}, on)
    if is_fine:
        check_spot({"use_spot": True}, on)
        return
    with pytest.raises(UsageError, match="--use-spot is for machines of a cloud"):
        check_spot({"use_spot": True}, on)
