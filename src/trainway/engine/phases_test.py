import pytest

from trainway.engine.phases import (
    ACTIVE,
    LIVE,
    TERMINAL,
    TRANSITIONS,
    WAITING,
    Phase,
    may_become,
)


def test_the_table_knows_every_phase() -> None:
    assert set(TRANSITIONS) == set(Phase)


def test_every_phase_is_of_one_sort() -> None:
    sorts = [TERMINAL, WAITING, LIVE, {Phase.PAUSED}]
    assert sorted(phase for sort in sorts for phase in sort) == sorted(Phase)
    assert ACTIVE == WAITING | LIVE


@pytest.mark.parametrize("phase", Phase)
def test_a_phase_may_stay(phase: Phase) -> None:
    assert may_become(phase, phase)
    assert phase not in TRANSITIONS[phase]


@pytest.mark.parametrize("phase", sorted(TERMINAL))
def test_nothing_comes_after_the_end(phase: Phase) -> None:
    assert not TRANSITIONS[phase]


@pytest.mark.parametrize("phase", sorted(set(Phase) - TERMINAL))
def test_every_other_phase_can_end_badly(phase: Phase) -> None:
    assert {Phase.FAILED, Phase.CANCELLED} <= TRANSITIONS[phase]


@pytest.mark.parametrize("then", sorted(set(Phase) - TERMINAL - {Phase.STOPPING}))
def test_a_job_that_stops_does_not_go_on(then: Phase) -> None:
    assert not may_become(Phase.STOPPING, then)
