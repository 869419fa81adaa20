"""Random schedules: see testing.py for what each decision is held against."""

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainway.agent.controllers import gang_queue
from trainway.agent.controllers.gang_queue import Verdict
from trainway.queueing.decision import ManagedPolicy, decide
from trainway.queueing.room import Places
from trainway.queueing.snapshot import WaitingGang
from trainway.queueing.testing import busy, schedule

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


@pytest.mark.parametrize("seed", [7_004_895, 7_026_326, 7_007_622])
def test_one_that_lost_its_room_does_not_take_what_was_made_for_the_next(seed: int) -> None:
    """In the third a job of higher priority waits for its quota, and lacks more of it later."""
    schedule(seed).play()


@pytest.mark.parametrize("seed", [101_491, 107_852, 9_006_172, 9_020_600, 20_021_392])
def test_nodes_are_taken_where_they_are_enough_beside_others(seed: int) -> None:
    """They are not when the job is looked at, since another quota is short as well."""
    schedule(seed).play()


class Asking(ManagedPolicy):
    """Asks of each job alone, and remembers nothing of those who ask for the same."""

    def again(self, gang: WaitingGang) -> Verdict | None:
        del gang
        return None


class Counting(ManagedPolicy):
    """Counts whom it did not have to ask for."""

    answers = 0

    def again(self, gang: WaitingGang) -> Verdict | None:
        verdict = super().again(gang)
        self.answers += verdict is not None
        return verdict


@settings(max_examples=EXAMPLES)
@given(st.integers(0, 1 << 40))
def test_those_who_ask_for_the_same_are_told_what_each_would_be_told_alone(seed: int) -> None:
    snapshot = busy(seed)
    places = Places(snapshot.lanes, snapshot.running)
    alone = gang_queue.decide(snapshot.waiting, places, Asking(snapshot, places))
    decisions = decide(snapshot)
    assert decisions.start == alone.start
    assert decisions.waiting == alone.waiting
    assert decisions.refused == alone.refused
    assert decisions.preempted == alone.preempted


def test_many_are_not_asked() -> None:
    answers = jobs = 0
    for seed in range(50):
        snapshot = busy(seed)
        places = Places(snapshot.lanes, snapshot.running)
        policy = Counting(snapshot, places)
        jobs += len(gang_queue.decide(snapshot.waiting, places, policy).waiting)
        answers += policy.answers
    assert answers > jobs / 5


def test_the_schedules_are_worth_looking_at() -> None:
    simulations = [schedule(seed) for seed in range(120)]
    for simulation in simulations:
        simulation.play()
    assert sum(simulation.preemptions for simulation in simulations) > 10
    assert sum(simulation.shrinkings for simulation in simulations) > 3
    assert sum(simulation.overtakings for simulation in simulations) > 10
    assert sum(len(simulation.refused) for simulation in simulations) > 10
