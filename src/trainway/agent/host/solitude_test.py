"""A machine that is alone counts only the time that it has really watched."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from trainway.agent.host.solitude import LONGEST_STEP, Solitude


@dataclass(frozen=True)
class Case:
    name: str
    looks: tuple[tuple[float, bool], ...]
    """When it was looked, and whether something ran."""
    limit: float | None
    is_over: bool


QUIET = tuple((float(now), False) for now in range(5, 65, 5))
CASES = [
    Case("long enough", QUIET, 60.0, True),
    Case("not yet", QUIET, 61.0, False),
    Case("no limit", QUIET, None, False),
    Case("a job runs", tuple((now, True) for now, _ in QUIET), 10.0, False),
    Case("a job ended a moment ago", (*QUIET, (65.0, True), (70.0, False)), 10.0, False),
    Case("the clock jumps ahead", ((5.0, False), (1e9, False)), 60.0, False),
    Case("the clock jumps back", ((50.0, False), (-1e9, False), (-1e9 + 5, False)), 60.0, False),
    Case("it was asleep again and again", ((3600.0, False), (7200.0, False)), 61.0, False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_machine_is_alone_for_as_long_as_it_has_watched(case: Case) -> None:
    solitude = Solitude(0.0)
    for now, busy in case.looks:
        solitude.look(now, busy=busy)

    assert solitude.is_over(case.limit) is case.is_over


def test_whoever_is_heard_ends_it() -> None:
    solitude = Solitude(0.0)
    solitude.look(LONGEST_STEP, busy=False)
    solitude.end()
    solitude.look(LONGEST_STEP + 1, busy=False)

    assert solitude.seconds == 1.0
