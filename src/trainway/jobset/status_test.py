from datetime import UTC, datetime, timedelta, timezone

import pytest

from trainway.jobset.status import conditions_of, find_condition, find_true, moment, timestamp


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (datetime(2026, 1, 31, 12, 0, 0, 999999, tzinfo=UTC), "2026-01-31T12:00:00Z"),
        (
            datetime(2026, 1, 31, 12, 0, 0, tzinfo=timezone(timedelta(hours=2))),
            "2026-01-31T10:00:00Z",
        ),
    ],
)
def test_times_are_written_in_utc_to_the_second(time: datetime, text: str) -> None:
    assert timestamp(time) == text


def test_times_are_read_in_any_zone() -> None:
    assert moment("2026-01-31T12:00:00+02:00") == moment("2026-01-31T10:00:00.0Z")


@pytest.mark.parametrize("obj", [None, {}, {"status": None}, {"status": {"conditions": None}}])
def test_no_conditions(obj: dict[str, object] | None) -> None:
    assert conditions_of(obj) == []


def test_conditions_are_found_by_type() -> None:
    conditions = [{"type": "A", "status": "False"}, {"type": "B", "status": "True"}]
    assert find_condition(conditions, "A") == {"type": "A", "status": "False"}
    assert find_condition(conditions, "C") is None
    assert find_true(conditions, "A") is None
    assert find_true(conditions, "B") == {"type": "B", "status": "True"}
    assert find_true(conditions, "C") is None
