"""When the first job of a place can start at the latest, and what may start past it meanwhile.

The time follows from the known ends of what runs. A job may start past the first one only if it
will have ended by then, or fits beside the first one even then: so the first one starts no later
than it would have. Of a job without a time limit nobody knows that, and it does not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from trainway.queueing.amounts import Amounts, add, fits, subtract


class Release(NamedTuple):
    """What becomes free when something ends."""

    id: str
    at: int | None
    """None: nobody knows when."""
    request: Amounts
    name: str = ""


@dataclass
class Reservation:
    """The place that is kept for the first one."""

    name: str
    at: int | None
    """When it starts at the latest; None: nobody knows."""
    spare: dict[str, int]
    """What it leaves free then; of what nobody knows when it ends, nothing counts."""
    last: str = ""
    """Whose end it waits for."""

    def allows(self, request: Amounts, limit_s: int | None, now: int) -> bool:
        """Whether a job that starts now does not delay it."""
        if limit_s is None:
            return False
        if self.at is not None and now + limit_s <= self.at:
            return True
        return fits(request, self.spare)

    def took(self, request: Amounts, limit_s: int | None, now: int) -> None:
        """Such a job has started."""
        if limit_s is None or self.at is None or now + limit_s > self.at:
            subtract(self.spare, request)


def reserved(
    name: str, request: Amounts, free: Amounts, releases: Iterable[Release], now: int
) -> Reservation:
    """The earliest time at which a request fits for certain, if nothing else starts."""
    left = dict(free)
    at: int | None = now
    known = sorted(
        ((release.at, release) for release in releases if release.at is not None),
        key=lambda item: item[0],
    )
    last = ""
    for end, release in known:
        if fits(request, left):
            break
        add(left, release.request)
        at, last = max(end, now), release.name
    if not fits(request, left):
        left, at, last = dict(free), None, ""
    subtract(left, request)
    return Reservation(name, at, left, last)
