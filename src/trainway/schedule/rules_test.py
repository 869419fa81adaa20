from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from trainway.schedule.cron import parse_cron
from trainway.schedule.rules import MOST, CatchUp, Overlap, due, next_due, waiting

DAILY = parse_cron("0 3 * * *")
MINUTELY = parse_cron("* * * * *")
THREE = datetime(2026, 11, 17, 3, tzinfo=UTC)
DAY, HOUR, SECOND = timedelta(days=1), timedelta(hours=1), timedelta(seconds=1)


@dataclass(frozen=True)
class Case:
    id: str
    catch_up: CatchUp
    until: datetime
    now: datetime
    fire: tuple[datetime, ...]
    following: datetime


CASES = [
    Case("not-yet", CatchUp.ONCE, THREE, THREE + HOUR, (), THREE + DAY),
    Case("on-time", CatchUp.SKIP, THREE - DAY, THREE, (THREE,), THREE + DAY),
    Case("a-little-late", CatchUp.SKIP, THREE - DAY, THREE + 59 * SECOND, (THREE,), THREE + DAY),
    Case("missed-and-skipped", CatchUp.SKIP, THREE - DAY, THREE + 60 * SECOND, (), THREE + DAY),
    Case("missed-and-made-up-for", CatchUp.ONCE, THREE - DAY, THREE + HOUR, (THREE,), THREE + DAY),
    Case(
        "four-days-are-one",
        *(CatchUp.ONCE, THREE - 4 * DAY, THREE + HOUR, (THREE,), THREE + DAY),
    ),
    Case(
        "all-of-three-days",
        *(CatchUp.ALL, THREE - 3 * DAY, THREE + HOUR),
        *((THREE - 2 * DAY, THREE - DAY, THREE), THREE + DAY),
    ),
    Case("put-back-an-hour", CatchUp.ALL, THREE, THREE - HOUR, (), THREE + DAY),
    Case("put-back-to-the-moment", CatchUp.ALL, THREE, THREE, (), THREE + DAY),
    Case("wrong-for-years", CatchUp.ALL, THREE + 900 * DAY, THREE - HOUR, (), THREE),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_due(case: Case) -> None:
    found, following = due(DAILY, UTC, case.catch_up, case.until, case.now)
    assert found.fire == case.fire
    assert following == case.following
    assert next_due(DAILY, UTC, found.until, case.now) == case.following  # what people are told
    again, _ = due(DAILY, UTC, case.catch_up, found.until, case.now)
    assert again.fire == ()  # whatever was decided is not decided again


def test_all_has_a_bound() -> None:
    found, _ = due(MINUTELY, UTC, CatchUp.ALL, THREE - 400 * DAY, THREE)
    assert len(found.fire) == MOST
    assert found.fire[-1] == THREE


def test_who_waits_longest_gives_way() -> None:
    assert waiting(CatchUp.ONCE, Overlap.ALLOW, ["a"], ["b"]) == ["b"]
    assert waiting(CatchUp.ALL, Overlap.ALLOW, ["a"], ["b", "c"]) == ["a", "b", "c"]
    assert waiting(CatchUp.ALL, Overlap.REPLACE, ["a"], ["b", "c"]) == ["c"]
    assert waiting(CatchUp.SKIP, Overlap.FORBID, ["a"], []) == ["a"]
    assert len(waiting(CatchUp.ALL, Overlap.ALLOW, ["a"] * MOST, ["b"])) == MOST
