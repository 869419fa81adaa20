"""Where a job goes on whose place was lost: the strategies, as a pure decision.

Only the loss of a place is answered by another place. An exit code is the program's own, and would
be the same anywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from trainway.engine.recovery.avoidance import Avoidances, free, soonest
from trainway.engine.recovery.cause import Cause
from trainway.engine.times import time_text

TRIES: Final = 3
"""How often FAILOVER has a place lose a job before it goes elsewhere."""


class Strategy(StrEnum):
    """What follows when a place is lost."""

    FAILOVER = "failover"
    """It is tried again there first, and elsewhere when that fails again and again."""
    EAGER_NEXT = "eager-next"
    """It goes to the next place at once."""
    NONE = "none"
    """It ends."""


class Loss(StrEnum):
    """What the end of an attempt says of its place."""

    LOST = "lost"
    """Something of the place was lost, or taken away: the place may do better later."""
    REFUSED = "refused"
    """The place could not run it at all, and is not asked again."""
    NONE = "none"
    """The place is not to blame."""


def loss_of_attempt(cause: Cause | None, *, counts: bool) -> Loss:
    """What an attempt says that its place has started again, or is about to."""
    if cause in (Cause.PREEMPTED, Cause.NODE_LOST):
        return Loss.LOST
    # A lost agent that counts may have been killed by the job itself.
    return Loss.LOST if cause is Cause.AGENT_LOST and not counts else Loss.NONE


def loss_of_end(cause: Cause | None) -> Loss:
    """What the end of a job says that its place does not start again."""
    if cause in (Cause.AGENT_LOST, Cause.REFUSED):
        return Loss.REFUSED
    return loss_of_attempt(cause, counts=True)


@dataclass(frozen=True)
class Situation:
    """What is known when a place was lost; the loss is in `avoided` already."""

    strategy: Strategy
    here: str
    places: Sequence[str]
    """All that the job may go to, in order, `here` among them."""
    avoided: Avoidances
    now: datetime
    has_ended: bool
    """Whether its place does not start it again by itself."""
    is_impatient: bool = False
    """Whether it was tried again here for long enough."""


@dataclass(frozen=True)
class Target:
    """Where it goes, and when at the earliest; the time is empty for at once."""

    place: str
    at: str = ""


def target(known: Situation) -> Target | None:
    """Where the job goes; None: it stays, and one that has ended ends for good."""
    if _is_tried_again(known):
        return Target(known.here) if known.has_ended else None
    others = [place for place in known.places if place != known.here]
    for place in free(known.avoided, others, known.now):
        return Target(place)
    if not known.has_ended:
        return None
    found = soonest(known.avoided, [*others, known.here])
    if found is None:
        return None
    return Target(found.place, found.until if found.holds(known.now) else "")


def next_look(known: Situation) -> str:
    """When a job that stays could go elsewhere; empty: never."""
    others = [place for place in known.places if place != known.here]
    if not others:
        return ""
    if free(known.avoided, others, known.now):
        return time_text(known.now)
    found = soonest(known.avoided, others)
    return "" if found is None else found.until


def _is_tried_again(known: Situation) -> bool:
    here = known.avoided.get(known.here)
    is_good = here is None or (here.failures < TRIES and not here.is_spent)
    return known.strategy is Strategy.FAILOVER and is_good and not known.is_impatient
