from collections.abc import Callable
from typing import Any

import pytest

from trainway.agent.base.event_loop import Timer
from trainway.agent.slurm.array_place import ArrayPlace
from trainway.agent.slurm.arrays import Gathering, listed


@pytest.mark.parametrize(
    ("ranks", "text"),
    [((0,), "0"), ((2, 0, 1), "0-2"), ((0, 1, 3, 5, 6), "0-1,3,5-6"), (range(500), "0-499")],
)
def test_ranks_as_sbatch_takes_them(ranks: tuple[int, ...], text: str) -> None:
    assert listed(ranks) == text


class Loop:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.timers: list[Timer] = []

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        self.timers.append(Timer(delay, callback))
        return self.timers[-1]

    def pass_time(self) -> None:
        timers, self.timers = self.timers, []
        for timer in timers:
            timer.run()


class Gathered:
    """Which jobs went on together."""

    def __init__(self) -> None:
        self.loop = Loop()
        around: Any = self.loop
        self.gone: list[dict[int, Any]] = []
        self._gathering = Gathering(around, lambda _place, jobs: self.gone.append(jobs))

    def add(self, rank: int, count: int = 3, array: str = "a") -> None:
        files: Any = f"{array}{rank}"
        self._gathering.add(ArrayPlace({"id": array, "rank": rank, "count": count}), files)


def test_all_jobs_of_an_array_go_together() -> None:
    gathered = Gathered()
    for rank in (2, 0):
        gathered.add(rank)
        gathered.add(rank, array="b")
    assert gathered.gone == []
    gathered.add(1)
    assert gathered.gone == [{2: "a2", 0: "a0", 1: "a1"}]


def test_who_never_comes_is_not_waited_for_for_ever() -> None:
    gathered = Gathered()
    gathered.add(0)
    gathered.add(2)
    gathered.loop.pass_time()
    assert gathered.gone == [{0: "a0", 2: "a2"}]
    gathered.add(1)
    gathered.loop.pass_time()
    assert gathered.gone[1:] == [{1: "a1"}]


def test_each_that_comes_gives_the_others_more_time() -> None:
    gathered = Gathered()
    gathered.add(0)
    gathered.add(1)
    first, last = gathered.loop.timers
    assert first.cancelled
    assert not last.cancelled
