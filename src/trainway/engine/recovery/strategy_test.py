from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from trainway.engine.recovery.avoidance import Avoidances, with_failure
from trainway.engine.recovery.cause import Cause
from trainway.engine.recovery.strategy import (
    Loss,
    Situation,
    Strategy,
    Target,
    loss_of_attempt,
    loss_of_end,
    next_look,
    target,
)
from trainway.engine.times import time_text

NOW = datetime(2026, 11, 18, tzinfo=UTC)
IN_A_MINUTE = time_text(NOW + timedelta(minutes=1))
IN_TWO = time_text(NOW + timedelta(minutes=2))


def lost(**failures: int) -> Avoidances:
    """So many failures of each place, a negative number of one that is spent."""
    known: Avoidances = {}
    for place, count in failures.items():
        for _ in range(abs(count)):
            known = with_failure(known, place, "lost", NOW, 0.0, is_spent=count < 0)
    return known


@dataclass(frozen=True)
class Case:
    name: str
    strategy: Strategy
    avoided: Avoidances
    wanted: Target | None
    has_ended: bool = False
    is_impatient: bool = False
    places: tuple[str, ...] = ("a", "b", "c")


EAGER, FAILOVER = Strategy.EAGER_NEXT, Strategy.FAILOVER
CASES = [
    Case("eager-next", EAGER, lost(a=1), Target("b")),
    Case("eager-skips-what-is-avoided", EAGER, lost(a=1, b=1), Target("c")),
    Case("eager-stays-where-all-are-avoided", EAGER, lost(a=1, b=1, c=1), None),
    Case("eager-ended-next", EAGER, lost(a=1), Target("b"), has_ended=True),
    Case("eager-ended-waits", EAGER, lost(a=2, b=1, c=2), Target("b", IN_A_MINUTE), has_ended=True),
    Case("eager-ended-alone", EAGER, lost(a=1), Target("a", IN_A_MINUTE), True, places=("a",)),
    Case("failover-again-here", FAILOVER, lost(a=1), None),
    Case("failover-ended-again-here", FAILOVER, lost(a=2), Target("a"), has_ended=True),
    Case("failover-third-time", FAILOVER, lost(a=3), Target("b")),
    Case("failover-impatient", FAILOVER, lost(a=1), Target("b"), is_impatient=True),
    Case("failover-refused", FAILOVER, lost(a=-1), Target("b"), has_ended=True),
    Case("failover-third-time-alone", FAILOVER, lost(a=3), None, places=("a",)),
    Case("all-refuse", EAGER, lost(a=-1, b=-1, c=-1), None, has_ended=True),
    Case("one-does-not-refuse", EAGER, lost(a=-1, b=-1, c=2), Target("c", IN_TWO), True),
]


def situation(case: Case) -> Situation:
    told = (case.strategy, "a", case.places, case.avoided, NOW)
    return Situation(*told, has_ended=case.has_ended, is_impatient=case.is_impatient)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_where_a_job_goes_whose_place_was_lost(case: Case) -> None:
    assert target(situation(case)) == case.wanted


def test_when_a_job_that_stays_could_go_elsewhere() -> None:
    at = {case.name: next_look(situation(case)) for case in CASES}
    assert at["eager-next"] == time_text(NOW)
    assert at["eager-stays-where-all-are-avoided"] == IN_A_MINUTE
    assert at["failover-third-time-alone"] == at["all-refuse"] == ""


@pytest.mark.parametrize("cause", [*Cause, None])
def test_only_the_loss_of_a_place_is_answered_by_another_place(cause: Cause | None) -> None:
    lost_place = cause in (Cause.PREEMPTED, Cause.NODE_LOST)
    assert (loss_of_attempt(cause, counts=True) is Loss.LOST) == lost_place
    uncounted = loss_of_attempt(cause, counts=False) is Loss.LOST
    assert uncounted == (lost_place or cause is Cause.AGENT_LOST)
    spent = cause in (Cause.AGENT_LOST, Cause.REFUSED)
    assert (loss_of_end(cause) is Loss.REFUSED) == spent
    assert (loss_of_end(cause) is Loss.LOST) == lost_place
