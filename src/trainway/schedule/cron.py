"""Cron expressions: five fields, read and checked; each error names its field.

The dialect is that of cron(8) as people know it: lists, ranges, steps, names of months and days, 7
for Sunday too, and the short forms such as `@daily`. If both the day of the month and that of the
week are restricted, a day counts that fits either. What cannot ever happen is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from trainway.errors import UsageError

_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_DAYS: Final = {
    name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))
}
SHORT_FORMS: Final[Mapping[str, str]] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
LONGEST: Final = 200
"""Characters of an expression."""
_LONGEST_MONTH: Final = dict.fromkeys(range(1, 13), 31) | dict.fromkeys((4, 6, 9, 11), 30)
_LEAP: Final = _LONGEST_MONTH | {2: 29}
_SUNDAY: Final = 7
_HINT: Final = 'such as "0 3 * * *", every day at three: minute, hour, day, month, day of the week'


@dataclass(frozen=True)
class _Field:
    name: str
    least: int
    most: int
    names: Mapping[str, int]

    @property
    def allowed(self) -> str:
        named = f", or {', '.join(self.names)}" if self.names else ""
        return f"{self.least} to {self.most}{named}"


_FIELDS: Final = (
    _Field("minute", 0, 59, {}),
    _Field("hour", 0, 23, {}),
    _Field("day of the month", 1, 31, {}),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, _SUNDAY, _DAYS),
)


@dataclass(frozen=True)
class Cron:
    """When something happens, on the clock of a wall."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 is Sunday."""
    is_any_day: bool
    is_any_weekday: bool
    follows_time: bool
    """Whether its hour is a `*`: it happens as time goes by, not at an hour of the day."""

    def has(self, day: date) -> bool:
        """Whether it happens on a day."""
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        if self.is_any_day or self.is_any_weekday:
            return in_month and in_week
        return in_month or in_week


@lru_cache(maxsize=256)
def parse_cron(text: str, field: str = "cron") -> Cron:
    """Read an expression; a UsageError says which of its fields is wrong, and what it may be."""
    if len(text) > LONGEST:
        raise UsageError(f"a cron expression has {LONGEST} characters at most", field=field)
    words = SHORT_FORMS.get(text.strip().lower(), text).split()
    if len(words) == 1 and words[0].startswith("@"):
        known = ", ".join(SHORT_FORMS)
        raise UsageError(f"there is no {words[0]!r}", field=field, hint=f"there are {known}")
    if len(words) != len(_FIELDS):
        said = f"a cron expression has {len(_FIELDS)} fields, and {text!r} has {len(words)}"
        short = f"@{text.strip().lower()}"
        hint = f"did you mean {short}?" if short in SHORT_FORMS else _HINT
        raise UsageError(said, field=field, hint=hint)
    sets = [_values(word, one, field) for word, one in zip(words, _FIELDS, strict=True)]
    minutes, hours, days, months, weekdays = sets
    cron = Cron(
        minutes,
        hours,
        days,
        months,
        frozenset(number % _SUNDAY for number in weekdays),
        words[2].startswith("*"),
        words[4].startswith("*"),
        words[1].startswith("*"),
    )
    if cron.is_any_weekday and all(min(days) > _LEAP[month] for month in months):
        said = f"{text!r} never happens: no such month has a day {min(days)}"
        raise UsageError(said, field=field, hint="choose a day that the month has")
    return cron


def _values(word: str, one: _Field, field: str) -> frozenset[int]:
    found: set[int] = set()
    for part in word.split(","):
        found.update(_range(part, word, one, field))
    return frozenset(found)


def _range(part: str, word: str, one: _Field, field: str) -> range:
    span, slash, step_text = part.partition("/")
    step = 1
    if slash:
        if not _is_number(step_text) or not 1 <= int(step_text) <= one.most:
            raise _wrong(one, word, f"the step {step_text!r} is not 1 to {one.most}", field)
        step = int(step_text)
    if span == "*":
        most = one.most - 1 if one.most == _SUNDAY else one.most
        return range(one.least, most + 1, step)
    first_text, dash, last_text = span.partition("-")
    first = _number(first_text, word, one, field)
    last = _number(last_text, word, one, field) if dash else (one.most if slash else first)
    if last < first and one.names is _DAYS and last == 0:
        last = _SUNDAY  # fri-sun
    if last < first:
        raise _wrong(one, word, f"{span!r} ends before it begins", field)
    return range(first, last + 1, step)


def _number(text: str, word: str, one: _Field, field: str) -> int:
    number = one.names.get(text.lower())
    if number is None and _is_number(text):
        number = int(text)
    if number is None or not one.least <= number <= one.most:
        raise _wrong(one, word, f"{text!r} is not {one.allowed}", field)
    return number


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4


def _wrong(one: _Field, word: str, why: str, field: str) -> UsageError:
    hint = f"the {one.name} is {one.allowed}, or *, a list (1,2), a range (1-5) or a step (*/5)"
    return UsageError(f"the {one.name} {word!r} is wrong: {why}", field=field, hint=hint)
