from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.errors import UsageError
from trainway.schedule.cron import parse_cron
from trainway.schedule.moments import last_moments, next_moment, zone_of


@dataclass(frozen=True)
class Case:
    id: str
    cron: str
    zone: str
    after: str
    then: tuple[str, ...]
    """In UTC."""


CASES = [
    Case(
        "every-day-at-three",
        *("0 3 * * *", "UTC", "2026-11-17T03:00"),
        ("2026-11-18T03:00", "2026-11-19T03:00"),
    ),
    Case(
        "put-forward-over-it",
        *("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00"),
        ("2026-03-29T01:00", "2026-03-30T00:30"),
    ),
    Case(
        "put-forward-over-several-which-are-one",
        *("0,15,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00"),
        ("2026-03-29T01:00", "2026-03-30T00:00"),
    ),
    Case(
        "put-back-over-it",
        *("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00"),
        ("2026-10-25T00:30", "2026-10-26T01:30"),
    ),
    Case(
        "every-hour-in-both-hours",
        *("30 * * * *", "Europe/Berlin", "2026-10-24T23:45"),
        ("2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"),
    ),
    Case(
        "every-hour-over-the-gap",
        *("30 * * * *", "Europe/Berlin", "2026-03-29T00:00"),
        ("2026-03-29T00:30", "2026-03-29T01:30", "2026-03-29T02:30"),
    ),
    Case(
        "half-an-hour-on-lord-howe",
        *("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00"),
        ("2026-10-03T15:30", "2026-10-04T15:15"),
    ),
    Case(
        "the-day-that-samoa-left-out",
        *("0 12 30 12 *", "Pacific/Apia", "2011-12-29T00:00"),
        ("2011-12-30T10:00", "2012-12-29T22:00"),
    ),
    Case(
        "a-leap-day-eight-years-away",
        *("0 0 29 2 *", "UTC", "2096-03-01T00:00"),
        ("2104-02-29T00:00",),
    ),
    Case(
        "west-of-greenwich",
        *("0 23 * * *", "America/Los_Angeles", "2026-11-17T07:00"),
        ("2026-11-18T07:00",),
    ),
]


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_next_moments(case: Case) -> None:
    cron, zone, moment = parse_cron(case.cron), zone_of(case.zone), _utc(case.after)
    for wanted in case.then:
        found = next_moment(cron, zone, moment)
        assert found == _utc(wanted)
        moment = found
    first = _utc(case.after)
    missed = last_moments(cron, zone, first, moment, 100)
    assert missed == [_utc(text) for text in case.then]
    assert last_moments(cron, zone, first, moment, 1) == missed[-1:]


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "", "\0", "x" * 300])
def test_a_zone_that_is_none(name: str) -> None:
    with pytest.raises(UsageError, match="there is no time zone"):
        zone_of(name)


def test_a_zone_in_other_letters_is_named() -> None:
    with pytest.raises(UsageError, match="'europe/berlin'; did you mean \"Europe/Berlin\""):
        zone_of("europe/berlin")


def test_after_the_last_day_there_is_no_moment() -> None:
    last = datetime(9999, 12, 31, 23, 59, 30, tzinfo=UTC)
    assert next_moment(parse_cron("* * * * *"), UTC, last) is None


_ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]
_SPEC = st.sampled_from(["0 3 * * *", "30 2 * * *", "*/17 1-3 * * *", "5 * * * *", "0 0 1,15 * 1"])
_START = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31))  # noqa: DTZ001 - made UTC


@given(_SPEC, st.sampled_from(_ZONES), _START, st.integers(1, 5))
def test_forwards_and_backwards_give_the_same_moments(
    text: str, place: str, start: datetime, count: int
) -> None:
    cron, zone, after = parse_cron(text), zone_of(place), start.replace(tzinfo=UTC)
    moment, forwards = after, []
    for _ in range(count):
        following = next_moment(cron, zone, moment)
        assert following is not None
        assert following > moment
        moment = following
        forwards.append(moment)
    assert last_moments(cron, zone, after, moment, count) == forwards
    # between two moments there is none
    assert next_moment(cron, zone, moment - timedelta(seconds=1)) == moment


@given(st.sampled_from(_ZONES), _START)
def test_what_is_daily_happens_once_on_every_day(place: str, start: datetime) -> None:
    cron, zone, first = parse_cron("30 2 * * *"), zone_of(place), start.replace(tzinfo=UTC)
    found = last_moments(cron, zone, first, first + timedelta(days=40), 100)
    days = [moment.astimezone(zone).date() for moment in found]
    assert days == sorted(set(days))
    assert len(days) in (40, 41, 39)
