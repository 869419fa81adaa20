from contextlib import suppress
from dataclasses import dataclass
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.errors import UsageError
from trainway.schedule.cron import SHORT_FORMS, parse_cron


@dataclass(frozen=True)
class Refused:
    text: str
    said: str
    hint: str = ""


REFUSED = [
    Refused("61 * * * *", "the minute '61' is wrong: '61' is not 0 to 59"),
    Refused("* 24 * * *", "the hour '24' is wrong: '24' is not 0 to 23"),
    Refused("* * 0 * *", "the day of the month '0' is wrong: '0' is not 1 to 31"),
    Refused("* * * foo *", "the month 'foo' is wrong", "jan, feb"),
    Refused("* * * * 8", "the day of the week '8' is wrong", "0 to 7, or sun, mon"),
    Refused("*/0 * * * *", "the step '0' is not 1 to 59"),
    Refused("* 5-3 * * *", "'5-3' ends before it begins"),
    Refused("1,,2 * * * *", "the minute '1,,2' is wrong"),
    Refused("-5 * * * *", "the minute '-5' is wrong"),
    Refused("٣ * * * *", "the minute '٣' is wrong"),
    Refused("1" * 150 + " * * * *", "is not 0 to 59"),
    Refused("* * * *", "has 5 fields, and '* * * *' has 4", "every day at three"),
    Refused("Daily", "has 5 fields, and 'Daily' has 1", "did you mean @daily?"),
    Refused("", "has 5 fields, and '' has 0"),
    Refused("0 0 3 * * *", "has 5 fields, and '0 0 3 * * *' has 6"),
    Refused("@often", "there is no '@often'", "@hourly, @daily"),
    Refused("0 0 31 2,4 *", "never happens: no such month has a day 31"),
    Refused("0 " * 200, "200 characters at most"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.text[:20])
def test_what_is_wrong_names_the_field_and_what_is_allowed(case: Refused) -> None:
    with pytest.raises(UsageError) as caught:
        parse_cron(case.text)
    assert case.said in str(caught.value)
    assert case.hint in (caught.value.hint or "")
    assert caught.value.field == "cron"


def test_lists_ranges_steps_and_names() -> None:
    cron = parse_cron("0,30,40-44/2 8-18/5 1 jan,Mar MON-fri")
    assert cron.minutes == {0, 30, 40, 42, 44}
    assert cron.hours == {8, 13, 18}
    assert cron.months == {1, 3}
    assert cron.weekdays == {1, 2, 3, 4, 5}
    assert parse_cron("5/20 * * * *").minutes == {5, 25, 45}
    assert parse_cron("* * * * fri-sun").weekdays == parse_cron("* * * * 5-7").weekdays == {0, 5, 6}
    assert parse_cron("* * * * */2").weekdays == {0, 2, 4, 6}


@pytest.mark.parametrize("short", SHORT_FORMS)
def test_short_forms(short: str) -> None:
    assert parse_cron(short.upper()) == parse_cron(SHORT_FORMS[short])


def test_a_day_that_fits_either_counts_if_both_are_restricted() -> None:
    friday_13 = parse_cron("0 0 13 * fri")
    assert friday_13.has(date(2026, 11, 13))  # a Friday
    assert friday_13.has(date(2026, 11, 20))
    assert friday_13.has(date(2026, 10, 13))  # a Tuesday
    assert not friday_13.has(date(2026, 11, 14))
    assert not parse_cron("0 0 13 * *").has(date(2026, 11, 20))
    assert parse_cron("0 0 31 2 fri").has(date(2026, 2, 6))  # every Friday of a February


_PART = st.one_of(
    st.just("*"), st.builds(str, st.integers(0, 70)), st.text("0123456789*/-,adefnostu", max_size=6)
)


@given(st.lists(_PART, min_size=5, max_size=5))
def test_any_text_is_read_or_refused_in_words(words: list[str]) -> None:
    with suppress(UsageError):
        cron = parse_cron(" ".join(words))
        assert set() < cron.minutes <= set(range(60))
        assert set() < cron.hours <= set(range(24))
        assert set() < cron.days <= set(range(1, 32))
        assert set() < cron.months <= set(range(1, 13))
        assert set() < cron.weekdays <= set(range(7))
