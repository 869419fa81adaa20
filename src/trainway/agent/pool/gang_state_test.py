"""What a gang does takes every edge of its table, and it refuses all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.agent.base.transitions import TransitionError
from trainway.agent.base.transitions_testing import edges, refused, walked
from trainway.agent.pool import gang as module
from trainway.agent.pool.conftest import SPREAD, GangWorld
from trainway.agent.pool.gang_state import (
    TRANSITIONS,
    WITH_PLACE,
    WITHOUT_PLACE,
    GangState,
)

NEW, PENDING, PLACED, LEAVING, ENDED = GangState
HOSTS = {"node-0-0": "a", "node-0-1": "b"}

Step = Callable[[GangWorld], None]


def place(world: GangWorld) -> None:
    world.place()


def run(world: GangWorld) -> None:
    world.run_both()


def ask(operation: str) -> Step:
    return lambda world: world.ask(operation)


def say(phase: str, key: str, *, deleted: bool = False) -> Step:
    def step(world: GangWorld) -> None:
        if any(record["pod"] == key for record in world.records("pod")):
            token = world.gang.running_token
            world.record(HOSTS[key], key, phase, token=token, deleted=deleted)

    return step


def end(key: str) -> Step:
    """The pod of that name has been stopped."""
    return say("Failed", key, deleted=True)


def lose(world: GangWorld) -> None:
    world.host("a", "lost")


def fail(world: GangWorld) -> None:
    world.gang.fail("oh")
    world.settle()


def refuse(world: GangWorld) -> None:
    world.gang.refuse("it needs 9 CPUs")
    world.settle()


def displace(world: GangWorld) -> None:
    world.pool.hosts["a"].state = world.pool.hosts["b"].state = "up"
    world.gang.displaced("host a gave its place away")
    world.settle()


def lose_all(world: GangWorld) -> None:
    world.gang.lose("its allocation ended")
    world.settle()


def next_agent(world: GangWorld) -> None:
    world.reborn()


SUSPENDED = (ask("suspend"), end("node-0-0"), end("node-0-1"))


@dataclass(frozen=True)
class Case:
    name: str
    steps: tuple[Step, ...]
    path: tuple[GangState, ...]
    """The states that follow the first one."""


CASES = [
    Case("waits for its first place", (), ()),
    Case("is resumed though it was never suspended", (ask("resume"),), ()),
    Case("is suspended before it has a place", (ask("suspend"), ask("resume")), (PENDING,)),
    Case("is cancelled before it has a place", (ask("cancel"),), (PENDING, ENDED)),
    Case("is refused", (refuse,), (PENDING, ENDED)),
    Case("fails before it has a place", (fail,), (ENDED,)),
    Case("has a place", (place, run), (PLACED,)),
    Case("is cancelled", (place, run, ask("cancel")), (PLACED,)),
    Case("fails", (place, run, fail), (PLACED, ENDED)),
    Case("fails twice", (place, run, fail, fail), (PLACED, ENDED)),
    Case("stops for a suspension", (place, run, ask("suspend")), (PLACED,)),
    Case("is suspended", (place, run, *SUSPENDED), (PLACED, PENDING)),
    Case("runs again", (place, run, *SUSPENDED, ask("resume"), place), (PLACED, PENDING, PLACED)),
    Case("loses a host", (place, run, lose), (PLACED, LEAVING)),
    Case("loses another one", (place, run, lose, displace), (PLACED, LEAVING)),
    Case("has left", (place, run, lose, end("node-0-1")), (PLACED, LEAVING, PENDING)),
    Case("is suspended as it leaves", (place, run, lose, ask("suspend")), (PLACED, LEAVING)),
    Case(
        "is cancelled as it leaves",
        (place, run, lose, ask("cancel"), end("node-0-1")),
        (PLACED, LEAVING, PENDING, ENDED),
    ),
    Case("fails as it leaves", (place, run, lose, fail), (PLACED, LEAVING, ENDED)),
    Case("loses all hosts", (place, run, lose_all), (PLACED, ENDED)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_happens_leads_from_state_to_state(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = walked(monkeypatch, module)
    world = GangWorld(tmp_path)
    for step in case.steps:
        step(world)
    assert seen == list(pairwise((NEW, *case.path)))
    next_agent(world)
    assert world.gang._state is (NEW, *case.path)[-1], "the next agent reads the same"


def test_the_cases_walk_every_edge() -> None:
    assert {edge for case in CASES for edge in pairwise((NEW, *case.path))} == edges(TRANSITIONS)


@pytest.mark.parametrize(("now", "then"), refused(TRANSITIONS))
def test_every_other_change_is_refused(now: GangState, then: GangState, world: GangWorld) -> None:
    world.gang._state = now
    with pytest.raises(TransitionError):
        world.gang._become(then)
    assert world.gang._state is now


def suit(world: GangWorld) -> None:
    """Whether it has a place is what its state says, and who wants one has none."""
    state = world.gang._state
    assert (world.placement() is not None) == (state in WITH_PLACE)
    assert not world.wants_place() or state in WITHOUT_PLACE
    assert world.over() == (state is ENDED)


def up(world: GangWorld) -> None:
    world.host("a", "up", token=world.gang.running_token)


def forgotten(world: GangWorld) -> None:
    world.host("b", "up")


def silent(world: GangWorld) -> None:
    world.host("a", "silent")


def place_if_wanted(world: GangWorld) -> None:
    if world.wants_place():
        world.place(SPREAD)


STEPS = [
    *(place_if_wanted, up, forgotten, silent, lose, displace, lose_all, refuse, next_agent),
    *(ask(operation) for operation in ("suspend", "resume", "cancel", "status")),
    *(say(phase, key) for phase in ("Running", "Succeeded", "Failed") for key in HOSTS),
    *(say("Failed", key, deleted=True) for key in HOSTS),
]


@given(st.lists(st.sampled_from(STEPS), max_size=16))
def test_nothing_that_happens_leaves_the_table(steps: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        world = GangWorld(Path(folder))
        place_if_wanted(world)
        for step in steps:
            if world.over():
                break
            step(world)
            suit(world)
