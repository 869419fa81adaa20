from datetime import timedelta

import pytest

from trainway.jobset.hang import hang_timeout, time_left
from trainway.jobset.labels import HANG_TIMEOUT

SECOND = timedelta(seconds=1)


def test_the_newest_sign_of_life_counts() -> None:
    assert time_left(10 * SECOND, [30 * SECOND, 4 * SECOND]) == 6 * SECOND
    assert time_left(10 * SECOND, [10 * SECOND]) == timedelta()
    assert time_left(10 * SECOND, [30 * SECOND, 11 * SECOND]) == -SECOND


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30),
        *((text, None) for text in ("0", "-1", "1.5", "x", "", "9" * 12, "9" * 5000, "\u0663")),
    ],
)
def test_a_timeout_is_a_number_of_seconds(text: str, seconds: int | None) -> None:
    expected = None if seconds is None else seconds * SECOND
    assert hang_timeout({HANG_TIMEOUT: text}) == expected
