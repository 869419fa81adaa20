"""The moments of a cron expression in a time zone: the next one, and those that were missed.

Clocks are put forward and back. What is due at an hour of the day that does not exist happens when
the clocks have been put forward, and what is due in an hour that comes twice happens in the first.
An expression whose hour is a `*` follows time itself: it happens in both hours, and in no hour
that does not exist. No moment is given twice, so two that fall together are one.
"""

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from trainway.errors import UsageError
from trainway.schedule.cron import Cron

_DAY: Final = timedelta(days=1)
_FURTHEST: Final = 366 * 9
"""Days. The 29th of February may be eight years away; a day of the week comes sooner."""


@lru_cache(maxsize=64)
def zone_of(name: str, field: str = "timezone") -> tzinfo:
    """A time zone by its name; a UsageError where there is none."""
    if name == "UTC":  # also on a machine without the database
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        wanted = name.casefold()
        meant = next((zone for zone in available_timezones() if zone.casefold() == wanted), "")
        said = f"there is no time zone {name[:100]!r}"
        raise UsageError(
            f'{said}; did you mean "{meant}"?' if meant else said,
            field=field,
            hint='name one of the IANA database, such as "Europe/Berlin" or "UTC"',
        ) from None


def next_moment(cron: Cron, zone: tzinfo, after: datetime) -> datetime | None:
    """The first moment later than this one, in UTC; None if there is none that counts."""
    first = _local_day(after, zone) - _DAY
    with suppress(OverflowError):  # a clock that shows the year 9999 is wrong, and put right again
        for number in range(_FURTHEST):
            moments = _moments(cron, zone, first + number * _DAY)
            place = bisect_right(moments, after)
            if place < len(moments):
                return moments[place]
    return None


def last_moments(
    cron: Cron, zone: tzinfo, after: datetime, until: datetime, most: int
) -> list[datetime]:
    """The last `most` of the moments after one time and not after another, in their order."""
    found: list[datetime] = []
    for moment in _backwards(cron, zone, after, until):
        if len(found) == most:
            break
        found.append(moment)
    return found[::-1]


def _backwards(cron: Cron, zone: tzinfo, after: datetime, until: datetime) -> Iterator[datetime]:
    day, first = _local_day(until, zone) + _DAY, _local_day(after, zone) - _DAY
    while day >= first:
        for moment in reversed(_moments(cron, zone, day)):
            if after < moment <= until:
                yield moment
        day -= _DAY


def _local_day(moment: datetime, zone: tzinfo) -> date:
    return moment.astimezone(zone).date()


def _moments(cron: Cron, zone: tzinfo, day: date) -> tuple[datetime, ...]:
    """The moments whose wall-clock time is on a day, in their order."""
    return _moments_of_day(cron, zone, day) if cron.has(day) else ()


@lru_cache(maxsize=128)
def _moments_of_day(cron: Cron, zone: tzinfo, day: date) -> tuple[datetime, ...]:
    """The same; it may be every minute, and is asked for again and again."""
    found: set[datetime] = set()
    for hour in cron.hours:
        for minute in cron.minutes:
            found.update(_in_utc(cron, datetime.combine(day, time(hour, minute), zone)))
    return tuple(sorted(found))


def _in_utc(cron: Cron, wall: datetime) -> Iterator[datetime]:
    first, second = (wall.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    if first == second:
        yield first
    elif first < second:  # the hour comes twice
        yield first
        if cron.follows_time:
            yield second
    elif not cron.follows_time:  # it does not exist: PEP 495 gives the change between the two
        yield _change(wall.tzinfo, second, first)


def _change(zone: tzinfo | None, before: datetime, after: datetime) -> datetime:
    """The first whole minute at which clocks have been put forward, between these two."""
    old = before.astimezone(zone).utcoffset()
    minutes = int((after - before) / timedelta(minutes=1))
    low, high = 0, minutes
    while low < high:
        middle = (low + high) // 2
        if (before + timedelta(minutes=middle)).astimezone(zone).utcoffset() == old:
            low = middle + 1
        else:
            high = middle
    return before + timedelta(minutes=low)
