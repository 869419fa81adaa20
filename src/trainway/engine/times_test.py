from datetime import UTC, datetime, timedelta

import pytest

from trainway.engine.times import left_s

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "passed_s", "wanted"),
    [
        (60, 20, 40.0),
        (0.3, 0.1, 0.2),
        (60, 61, 0.0),
        (60, -5, 65.0),
        (10**12, 20, 10.0**12 - 20),
        (2**63 - 1, 20, 2.0**63),
        (float("inf"), 20, float("inf")),
    ],
)
def test_what_is_left_of_a_time_however_long_it_is(
    seconds: float, passed_s: float, wanted: float
) -> None:
    assert left_s(NOON, seconds, NOON + timedelta(seconds=passed_s)) == wanted
