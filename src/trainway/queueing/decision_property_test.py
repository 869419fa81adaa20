"""Random schedules: see testing.py for what each decision is held against."""

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainway.queueing.testing import schedule

TOGETHER = 5
"""How many schedules are one example."""


_MANY: Final = 3_000
"""What other property tests have in `make fuzz`."""
_USUAL: Final = settings().max_examples
EXAMPLES: Final = 10_000 if _USUAL >= _MANY else _USUAL
"""A schedule is quick to play, and there are many kinds."""


@settings(max_examples=EXAMPLES)
@given(st.integers(0, 1 << 40))
def test_random_schedules_keep_the_rules(seed: int) -> None:
    for number in range(TOGETHER):
        simulation = schedule(seed * TOGETHER + number)
        simulation.play()
        assert simulation.started.keys() | simulation.refused == simulation.jobs.keys()


@pytest.mark.parametrize("seed", [5_000_013, 5_004_513])
def test_schedules_in_which_room_was_made_for_nothing(seed: int) -> None:
    """In the first a job of higher priority came before, in the second one that was also owed."""
    simulation = schedule(seed)
    simulation.play()
    assert simulation.preemptions


@pytest.mark.parametrize("seed", [5_008_054, 124_707])
def test_nobody_takes_the_room_of_one_that_can_start_before_all_have_left(seed: int) -> None:
    """In the second, they leave for another place's job, to whose quota theirs counts."""
    schedule(seed).play()


@pytest.mark.parametrize("seed", [101_491, 107_852, 9_006_172, 9_020_600, 20_021_392])
def test_nodes_are_taken_where_they_are_enough_beside_others(seed: int) -> None:
    """They are not when the job is looked at, since another quota is short as well."""
    schedule(seed).play()


def test_the_schedules_are_worth_looking_at() -> None:
    simulations = [schedule(seed) for seed in range(120)]
    for simulation in simulations:
        simulation.play()
    assert sum(simulation.preemptions for simulation in simulations) > 10
    assert sum(simulation.shrinkings for simulation in simulations) > 3
    assert sum(simulation.overtakings for simulation in simulations) > 10
    assert sum(len(simulation.refused) for simulation in simulations) > 10
