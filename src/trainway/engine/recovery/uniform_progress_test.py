from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.engine.recovery.replay_testing import (
    Bargain,
    Policy,
    Replayed,
    Trace,
    always_sure,
    greedy,
    optimum,
    random_trace,
    replay,
)
from trainway.engine.recovery.uniform_progress import Place, Standing, Terms, next_place

TERMS = Terms(work=48, deadline=60, changeover=0.1, pace=0.05)
IDLE, CHEAP, SURE = Place.IDLE, Place.CHEAP, Place.SURE


@dataclass(frozen=True)
class Case:
    id: str
    now: Standing
    then: Place


CASES = [
    Case("new-and-cheap-is-there", Standing(0, 0, IDLE, True), CHEAP),
    Case("new-and-nothing-is-lost-yet", Standing(0, 0, IDLE, False), IDLE),
    Case("behind", Standing(10, 7.9, IDLE, False), SURE),
    Case("behind-but-cheap-is-there", Standing(10, 7.9, IDLE, True), CHEAP),
    Case("on-time", Standing(10, 8, IDLE, False), IDLE),
    Case("running-cheaply-behind", Standing(30, 20, CHEAP, True), CHEAP),
    Case("running-cheaply-without-slack", Standing(58, 46.1, CHEAP, True), CHEAP),
    Case("place-has-vanished-unnoticed", Standing(10, 7, CHEAP, False), SURE),
    Case("surely-and-behind", Standing(10, 7.9, SURE, True), SURE),
    Case("surely-and-just-caught-up", Standing(10, 8.1, SURE, True), SURE),
    Case("surely-with-a-lead", Standing(10, 8.17, SURE, True), CHEAP),
    Case("surely-with-a-lead-while-it-starts", Standing(10, 8.17, SURE, True, 0.05), SURE),
    Case("surely-and-caught-up-without-cheap", Standing(10, 9, SURE, False), SURE),
    Case("safety-net", Standing(50, 38.24, IDLE, True), SURE),
    Case("safety-net-is-not-left", Standing(59.7, 47.9, SURE, True), SURE),
    Case("done", Standing(50, 48, CHEAP, True), IDLE),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_next_place(case: Case) -> None:
    assert next_place(TERMS, case.now) is case.then


def test_a_deadline_that_cannot_be_kept_is_known_before() -> None:
    assert Terms(48, 48.1, 0.1).is_possible
    assert not Terms(48, 48.05, 0.1).is_possible


@given(
    work=st.integers(1, 60),
    spare=st.integers(0, 40),
    changeover=st.integers(0, 12),
    tick=st.integers(1, 9),
    there=st.lists(st.booleans(), min_size=120, max_size=120),
)
def test_whatever_happens_the_deadline_is_kept(
    work: int, spare: int, changeover: int, tick: int, there: list[bool]
) -> None:
    bargain = Bargain(work, work + changeover + spare, changeover, 0.3)
    trace = Trace(tick, there)
    best = optimum(bargain, trace)
    for policy in (next_place, greedy, always_sure):
        replayed = replay(bargain, trace, policy)
        assert replayed.ended is not None
        assert replayed.cost >= best - 1e-9  # nobody is cheaper than who knows the future


@given(
    there=st.lists(st.booleans(), min_size=7, max_size=7),
    work=st.integers(1, 12),
    spare=st.integers(0, 6),
    changeover=st.integers(0, 5),
    tick=st.integers(1, 3),
)
def test_the_optimum_is_that_of_all_plans(
    there: list[bool], work: int, spare: int, changeover: int, tick: int
) -> None:
    bargain, trace = Bargain(work, work + changeover + spare, changeover, 0.3), Trace(tick, there)
    tried = [replayed.cost for replayed in _all_plans(bargain, trace) if replayed.ended is not None]
    assert optimum(bargain, trace) == pytest.approx(min(tried, default=float("inf")))


def _all_plans(bargain: Bargain, trace: Trace) -> list[Replayed]:
    plans: list[list[Place]] = [[]]
    for is_there in trace.there:
        choices = list(Place) if is_there else [IDLE, SURE]
        plans = [[*plan, choice] for plan in plans for choice in choices]
    return [replay(bargain, trace, _following(plan)) for plan in plans]


def _following(plan: list[Place]) -> Policy:
    steps = iter(plan)
    return lambda _terms, _now: next(steps)


def test_no_future_is_seen() -> None:
    """Two traces that are alike for ten hours are treated alike for ten hours."""
    bargain = Bargain(48 * 3600, 60 * 3600, 360, 0.3)
    first, second = random_trace(1, 600, 60 * 3600), random_trace(2, 600, 60 * 3600)
    second = Trace(600, [*first.there[:60], *second.there[60:]])
    seen: list[list[Place]] = []
    for trace in (first, second):
        chosen: list[Place] = []

        def noted(terms: Terms, now: Standing, chosen: list[Place] = chosen) -> Place:
            chosen.append(next_place(terms, now))
            return chosen[-1]

        replay(bargain, trace, noted)
        seen.append(chosen)
    assert seen[0][:60] == seen[1][:60]


def test_it_pays_less_than_greed_where_the_cheap_place_comes_and_goes() -> None:
    bargain = Bargain(48 * 3600, 60 * 3600, 360, 0.3)
    traces = [random_trace(seed, 600, bargain.deadline) for seed in range(40)]
    paid = {
        policy: sum(replay(bargain, trace, policy).cost for trace in traces)
        for policy in (next_place, greedy, always_sure)
    }
    assert paid[next_place] < paid[greedy] < paid[always_sure]
