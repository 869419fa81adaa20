from datetime import UTC, datetime

import pytest

from trainway.cli.times import clock, parse_duration, parse_since, short
from trainway.errors import UsageError

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5", 1.5), ("30s", 30), ("5m", 300), ("1h30m", 5400), ("2d", 172800)],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "m", "5x", "-5s", "5 m", "1h30", "\u0665m", "9" * 400, f"{'9' * 400}d"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("10m", "2026-11-15T11:50:00Z"),
        ("2026-11-15T05:10:00Z", "2026-11-15T05:10:00Z"),
        ("2026-11-15T05:10:00+02:00", "2026-11-15T03:10:00Z"),
    ],
)
def test_a_time_or_how_long_ago_it_was(text: str, time: str) -> None:
    assert parse_since(text, NOW) == time


def test_what_is_no_time_is_refused_with_both_ways_to_write_one() -> None:
    with pytest.raises(UsageError, match="'yesterday' is neither a duration nor a time") as caught:
        parse_since("yesterday", NOW)
    assert caught.value.hint == "write 30m, 2d, 2026-11-15 or 2026-11-15T05:10"


@pytest.mark.parametrize("text", ["9999999d", "9999-12-31T23:00:00-12:00"])
def test_a_time_that_no_calendar_has_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="this time is"):
        parse_since(text, NOW)


def test_a_time_without_zone_is_that_of_this_machine() -> None:
    local = datetime(2026, 11, 15, 5, 10).astimezone()
    assert datetime.fromisoformat(parse_since("2026-11-15T05:10:00", NOW)) == local


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0s"), (0, "0s"), (59.9, "59s"), (60, "1m"), (190, "3m10s"), (7200, "2h"),
        (7261, "2h1m"), (90061, "1d1h"), (86400 + 61, "1d"),
    ],
)  # fmt: skip
def test_a_duration_has_two_units_at_most(seconds: float, text: str) -> None:
    assert short(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1, "0:00"), (7, "0:07"), (750, "12:30"), (3605, "1:00:05")]
)
def test_a_duration_on_a_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text
