"""Where a job with a deadline runs next: a cheap place that may vanish, or a sure one.

The policy is Uniform Progress ("Can't Be Late", NSDI 2024): a job should be as far, in its work,
as it is in its time. It is a pure function of what is known at one moment, so that the engine
calls it whenever something changed, and a replay of recorded traces calls the very same. It knows
nothing of what will be, and no statistics of what was: a zone that was generous for a week may be
empty tomorrow.

Times are hours, but any unit does: nothing here depends on it.

What the paper leaves open, and what is decided here:

- A job that has caught up on the sure place, and finds no cheap one, stays there. To leave would
  save now what two changeovers and the next lag cost later.
- It leaves the sure place for the cheap one only with a lead, of `LEAD` changeovers: the one it
  pays now and the one back, should the cheap place vanish at once. So it cannot be thrown to and
  fro at the price of more than it gains.
- What must be left of the slack counts the longest time between two decisions (`Terms.pace`): a
  job that idles, or whose place has vanished, learns of it that much later.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

LEAD: Final = 2
"""Changeovers that a job must be ahead by before it leaves a sure place: there, and back."""
HAIR: Final = 1e-9
"""What sums of floating-point numbers may be wrong by."""


class Place(StrEnum):
    """Where a job is."""

    IDLE = "idle"
    CHEAP = "cheap"
    SURE = "sure"


@dataclass(frozen=True)
class Terms:
    """What is agreed on, for as long as the job lasts."""

    work: float
    """How long it computes if nothing interrupts it."""
    deadline: float
    """How long after its beginning it must have ended."""
    changeover: float
    """What each start costs until the job computes again: the place, the files, the checkpoint."""
    pace: float = 0.0
    """The longest time between two decisions."""

    @property
    def is_possible(self) -> bool:
        """Whether the deadline can be promised: at once on the sure place, it is kept."""
        return self.work + self.changeover <= self.deadline + HAIR


@dataclass(frozen=True)
class Standing:
    """What is known now."""

    elapsed: float
    """Since the job's beginning."""
    progress: float
    """How much of the work is done, and would not be lost with its place."""
    place: Place
    """Where it runs now; a job whose place has just vanished is idle."""
    is_cheap_there: bool
    """Whether the cheap place could be had, or is still there."""
    starting: float = 0.0
    """What is left of the changeover, where it runs."""


def next_place(terms: Terms, now: Standing) -> Place:
    """Where the job should be until the next decision."""
    if now.progress >= terms.work - HAIR:
        return Place.IDLE
    slack = (terms.deadline - now.elapsed) - (terms.work - now.progress)
    if now.place is Place.CHEAP and now.is_cheap_there:
        return Place.CHEAP  # its slack does not shrink, and what it needs to leave is kept
    if now.place is Place.SURE:
        return _from_sure(terms, now, slack)
    if slack < _to_try_cheap(terms):
        return Place.SURE  # the safety net: it is never left
    if now.is_cheap_there:
        return Place.CHEAP
    return Place.SURE if _lead(terms, now, 0) < -HAIR else Place.IDLE


def _from_sure(terms: Terms, now: Standing, slack: float) -> Place:
    """The sure place is left for the cheap one only, with a lead, and never during a start."""
    if not now.is_cheap_there or now.starting > HAIR:
        return Place.SURE
    ahead = _lead(terms, now, LEAD * terms.changeover)
    may_leave = ahead >= -HAIR and slack >= _to_try_cheap(terms)
    return Place.CHEAP if may_leave else Place.SURE


def _to_try_cheap(terms: Terms) -> float:
    """The slack of a job that can still lose a cheap place, however soon, and be in time.

    One changeover for the cheap place, one for the sure place after it, and a pace until the
    loss is noticed. Who idles with so much has, a pace later, what the sure place alone takes.
    """
    return 2 * terms.changeover + terms.pace + HAIR


def _lead(terms: Terms, now: Standing, later: float) -> float:
    """How far the job is ahead of uniform progress, as it will be so much later."""
    return now.progress - terms.work * (now.elapsed + later) / terms.deadline
