"""Places that have lost a job, and until when it does not go there again. Pure.

Each loss doubles the time for which a place is avoided, up to an hour, with up to half as much
again by chance, so that jobs that lost a place together do not come back together. A place that
was good for an hour after that begins anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from trainway.engine.times import time_text
from trainway.jobset.status import moment
from trainway.json_types import Json

FIRST_S: Final = 60.0
LONGEST_S: Final = 3600.0
_FORGOTTEN_S: Final = 3600.0
_MOST_DOUBLINGS: Final = 10


@dataclass(frozen=True)
class Avoided:
    """What a job remembers of a place."""

    place: str
    failures: int
    until: str
    why: str
    is_spent: bool = False
    """Whether the job never goes there again: the place does not take it."""

    def holds(self, now: datetime) -> bool:
        """Whether the place is avoided at that time."""
        return self.is_spent or now < moment(self.until)


Avoidances = Mapping[str, Avoided]
"""By place."""


def with_failure(
    known: Avoidances, place: str, why: str, now: datetime, chance: float, *, is_spent: bool = False
) -> dict[str, Avoided]:
    """The table after a place has failed once more; `chance` is between 0 and 1."""
    before = known.get(place)
    failures = 1
    if before is not None and now < moment(before.until) + timedelta(seconds=_FORGOTTEN_S):
        failures = before.failures + 1
    pause = min(FIRST_S * 2 ** min(failures - 1, _MOST_DOUBLINGS), LONGEST_S)
    until = time_text(now + timedelta(seconds=pause * (1 + chance / 2)))
    return {**known, place: Avoided(place, failures, until, why, is_spent)}


def free(known: Avoidances, places: Sequence[str], now: datetime) -> list[str]:
    """The places that are not avoided, in their order."""
    return [place for place in places if place not in known or not known[place].holds(now)]


def soonest(known: Avoidances, places: Sequence[str]) -> Avoided | None:
    """Of places that are all avoided the one that may be taken first; None: there never is one."""
    found = [known[place] for place in places if not known[place].is_spent]
    return min(found, key=lambda each: moment(each.until), default=None)


def avoidances_view(known: Avoidances) -> list[Json]:
    """What is avoided, and until when, as it is shown."""
    return [
        {
            "place": each.place,
            "failures": each.failures,
            "until": None if each.is_spent else each.until,
            "reason": each.why,
        }
        for each in known.values()
    ]
