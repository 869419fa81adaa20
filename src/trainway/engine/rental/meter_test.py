"""Machines cost something from when they were launched until they stopped or ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from trainway.engine.rental.meter import metered
from trainway.engine.rental.record import RentedMachine
from trainway.providers.base import MachineState

ON, OFF, GONE = MachineState.RUNNING, MachineState.STOPPED, MachineState.ENDED


def at(hour: int, minute: int = 0) -> str:
    return f"2026-11-18T{hour:02}:{minute:02}:00.000000Z"


def said(hour: int, minute: int = 0) -> str:
    """As AWS says it."""
    return f"2026-11-18T{hour:02}:{minute:02}:00+00:00"


NOW = at(9)
NEW = RentedMachine("i-1", 0, state=ON)
UP = replace(NEW, launched=at(8))
OVER = replace(UP, state=OFF, ended=at(8, 30))


@dataclass(frozen=True)
class Case:
    what: str
    known: RentedMachine | None
    found: RentedMachine | None
    after: RentedMachine
    ends: Mapping[str, str] = field(default_factory=dict)


@pytest.mark.parametrize(
    "case",
    [
        Case("new", None, NEW, replace(NEW, launched=NOW)),
        Case("new, and its cloud says since when", None, replace(NEW, launched=said(8)), UP),
        Case("still on", UP, replace(NEW, launched=said(8, 5)), UP),
        Case("gone", UP, None, replace(UP, state=GONE, ended=NOW)),
        Case("gone, and its cloud says when", UP, None, replace(UP, state=GONE, ended=at(8, 30)),
             {"i-1": said(8, 30)}),
        Case("gone before it was launched, says another clock", UP, None,
             replace(UP, state=GONE, ended=at(8)), {"i-1": said(7)}),
        Case("gone long ago", replace(OVER, state=GONE), None, replace(OVER, state=GONE),
             {"i-1": said(8, 59)}),
        Case("stopped", UP, replace(NEW, state=OFF), OVER, {"i-1": said(8, 30)}),
        Case("started again", OVER, replace(NEW, launched=said(8, 40)),
             replace(NEW, launched=at(8, 40), before=((at(8), at(8, 30)),))),
        Case("started again, and its cloud says nothing", OVER, NEW,
             replace(NEW, launched=NOW, before=((at(8), at(8, 30)),))),
        Case("started again, and its cloud tells the first time", OVER,
             replace(NEW, launched=said(8)),
             replace(NEW, launched=NOW, before=((at(8), at(8, 30)),))),
        Case("about to be taken", replace(UP, taken=NOW, why="spot"), NEW,
             replace(UP, taken=NOW, why="spot")),
        Case("stopped before it was taken, and started again",
             replace(OVER, taken=at(8, 31), why="spot"), replace(NEW, launched=said(8, 40)),
             replace(NEW, launched=at(8, 40), before=((at(8), at(8, 30)),))),
    ],
    ids=lambda case: case.what,
)  # fmt: skip
def test_when_a_machine_costs_something(case: Case) -> None:
    known = () if case.known is None else (case.known,)
    found = () if case.found is None else (case.found,)
    assert metered(known, found, case.ends, NOW) == (case.after,)


def test_the_order_is_that_of_the_ranks() -> None:
    second = RentedMachine("i-0", 1, state=ON)
    assert [each.id for each in metered([NEW], [second], {}, NOW)] == ["i-1", "i-0"]
