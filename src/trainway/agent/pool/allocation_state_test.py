"""What an allocation does takes every edge of its table, and it refuses all others."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import pytest

from trainway.agent.base.transitions import TransitionError
from trainway.agent.base.transitions_testing import edges, refused, walked
from trainway.agent.pool import allocation as module
from trainway.agent.pool.allocation import Allocation
from trainway.agent.pool.allocation_state import TRANSITIONS, AllocationState
from trainway.agent.pool.placement import Placement

INIT, UP, AUTOSTOPPING, STOPPED = AllocationState

Step = Callable[[Allocation], object]


def new() -> Allocation:
    return Allocation({"name": "dev", "id": "1", "cpus": 1}, 1)


def nodes() -> Placement:
    return Placement({"node-0": "a"})


def hold(allocation: Allocation) -> None:
    allocation.hold(nodes())


def displace(allocation: Allocation) -> None:
    allocation.displaced("host a gave its place away")


def start(allocation: Allocation) -> None:
    allocation.start(None)


def start_there(allocation: Allocation) -> None:
    allocation.start(nodes())


def idle(allocation: Allocation) -> None:
    allocation.begin_autostop()
    allocation.releasing = True


keep, stop = Allocation.keep, Allocation.stop


@dataclass(frozen=True)
class Case:
    name: str
    steps: tuple[Step, ...]
    path: tuple[AllocationState, ...]
    """The states that follow the first one."""


CASES = [
    Case("waits", (), ()),
    Case("waits on", (start,), ()),
    Case("is given nodes", (start_there,), (UP,)),
    Case("finds nodes", (hold,), (UP,)),
    Case("is stopped while it waits", (stop,), (STOPPED,)),
    Case("loses its nodes", (hold, displace), (UP, INIT)),
    Case("is stopped", (hold, stop), (UP, STOPPED)),
    Case("is stopped twice", (hold, stop, stop), (UP, STOPPED)),
    Case("has no nodes to lose", (hold, stop, displace), (UP, STOPPED)),
    Case("is not released", (hold, keep), (UP,)),
    Case("stops by itself", (hold, idle, stop), (UP, AUTOSTOPPING, STOPPED)),
    Case("cannot stop by itself", (hold, idle, keep), (UP, AUTOSTOPPING, UP)),
    Case("is started", (stop, start), (STOPPED, INIT)),
    Case("is started with its nodes", (stop, start_there), (STOPPED, UP)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_happens_leads_from_state_to_state(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = walked(monkeypatch, module)
    allocation = new()
    for step in case.steps:
        step(allocation)
    assert seen == list(pairwise((INIT, *case.path)))
    last = (INIT, *case.path)[-1]
    for found in (allocation, Allocation(json.loads(json.dumps(allocation.to_json())), 1)):
        assert found.state is last
        assert (found.placement is not None) == (last in (UP, AUTOSTOPPING))
        assert found.is_held == (last is not STOPPED)
        assert found.wants_place == (last is INIT)


def test_the_cases_walk_every_edge() -> None:
    assert {edge for case in CASES for edge in pairwise((INIT, *case.path))} == edges(TRANSITIONS)


@pytest.mark.parametrize(("now", "then"), refused(TRANSITIONS))
def test_every_other_change_is_refused(now: AllocationState, then: AllocationState) -> None:
    allocation = new()
    allocation._state = now
    with pytest.raises(TransitionError):
        allocation._become(then)
    assert allocation.state is now


def test_one_that_is_released_waits_for_no_nodes() -> None:
    allocation = new()
    allocation.releasing = True
    assert (allocation.state, allocation.wants_place) == (INIT, False)
    allocation.keep()
    assert allocation.wants_place
