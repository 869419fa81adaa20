"""What a schedule does with moments that it missed, and with jobs that have not ended. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Final

from trainway.schedule.cron import Cron
from trainway.schedule.moments import last_moments, next_moment

GRACE: Final = timedelta(seconds=60)
"""A moment so long ago is not missed: a busy server is late sometimes."""
MOST: Final = 100
"""So many missed moments are made up for, the newest ones."""
SET_BACK: Final = timedelta(days=1)
"""A clock that was put back by more than this was wrong before, and a schedule begins anew."""


class CatchUp(StrEnum):
    """What becomes of moments at which no server was there."""

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


class Overlap(StrEnum):
    """What becomes of a moment at which a job of an earlier one has not ended."""

    FORBID = "forbid"
    ALLOW = "allow"
    REPLACE = "replace"


@dataclass(frozen=True)
class Due:
    """What is to be done now."""

    fire: tuple[datetime, ...]
    """For these moments, in their order."""
    until: datetime
    """What was due until here is decided."""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is to be written down."""
        return not self.fire


def due(
    cron: Cron, zone: tzinfo, catch_up: CatchUp, until: datetime, now: datetime
) -> tuple[Due, datetime | None]:
    """What is due, where all until some time is decided; and when the next moment is.

    The clock may have been put back: what is decided stays so, and no moment counts twice.
    """
    until = _believed(until, now)
    fire: Sequence[datetime] = ()
    if now > until:
        match catch_up:
            case CatchUp.ALL:
                fire = last_moments(cron, zone, until, now, MOST)
            case CatchUp.ONCE:
                fire = last_moments(cron, zone, until, now, 1)
            case CatchUp.SKIP:
                fire = last_moments(cron, zone, max(until, now - GRACE), now, 1)
        until = now
    return Due(tuple(fire), until), next_moment(cron, zone, until)


def next_due(cron: Cron, zone: tzinfo, until: datetime, now: datetime) -> datetime | None:
    """When it happens next: nothing does before a time until which all is decided."""
    return next_moment(cron, zone, max(_believed(until, now), now))


def _believed(until: datetime, now: datetime) -> datetime:
    """Until when all is decided, unless a clock was wrong that said so."""
    return now if now < until - SET_BACK else until


def waiting(
    catch_up: CatchUp, overlap: Overlap, before: Sequence[str], new: Sequence[str]
) -> list[str]:
    """Which of the moments that wait go on waiting, now that there are more: the newest ones.

    Only who makes up for all wants more than one; and one that replaces all others is enough.
    """
    most = MOST if catch_up is CatchUp.ALL and overlap is not Overlap.REPLACE else 1
    return [*before, *new][-most:]
