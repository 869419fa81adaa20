"""How many workers a worker pool wants."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.engine.worker_pool.size import Demand, Size, look_again_s, size_of, wanted_workers

FIXED = Size(2, 2)
ELASTIC = Size(1, 8, idle_s=60.0)
EMPTY = Size(0, 4, idle_s=60.0)


@dataclass(frozen=True)
class Case:
    name: str
    size: Size
    demand: Demand
    wanted: int


@pytest.mark.parametrize(
    "case",
    [
        Case("a fixed pool begins", FIXED, Demand([], 0, []), 2),
        Case("a fixed pool does not grow", FIXED, Demand([9.0] * 5, 2, []), 2),
        Case("a fixed pool does not shrink", FIXED, Demand([], 0, [999.0, 999.0]), 2),
        Case("the least", ELASTIC, Demand([], 0, []), 1),
        Case("one more for each that waits", ELASTIC, Demand([0.0, 0.0], 1, []), 3),
        Case("workers that are made count", ELASTIC, Demand([0.0, 0.0], 1, [0.0, 0.0]), 3),
        Case("the most", ELASTIC, Demand([0.0] * 50, 4, []), 8),
        Case("idle, but not for long", ELASTIC, Demand([], 1, [59.0, 10.0]), 3),
        Case("idle for long", ELASTIC, Demand([], 1, [60.0, 10.0]), 2),
        Case("the least stays", ELASTIC, Demand([], 0, [60.0, 70.0]), 1),
        Case("a busy one is enough", ELASTIC, Demand([], 1, [60.0]), 1),
        Case("none at all", EMPTY, Demand([], 0, [60.0]), 0),
        Case("never none while a job waits", EMPTY, Demand([0.0], 0, []), 1),
        Case("several may wait", Size(0, 9, threshold=4), Demand([0.0] * 5, 1, []), 3),
        Case("nobody has waited long", Size(0, 9, patience_s=5), Demand([4.9], 0, []), 0),
        Case("one has waited long", Size(0, 9, patience_s=5), Demand([5.0, 1.0], 0, []), 1),
        Case("the limit was lowered", Size(1, 2, idle_s=99), Demand([], 1, [0.0, 0.0, 0.0]), 2),
        Case("nobody with a job goes", Size(1, 2, idle_s=99), Demand([], 4, []), 4),
    ],
    ids=lambda case: case.name,
)
def test_wanted_workers(case: Case) -> None:
    assert wanted_workers(case.size, case.demand) == case.wanted


_SECONDS = st.floats(0, 1000)


@given(
    st.integers(0, 5),
    st.integers(0, 5),
    st.lists(_SECONDS, max_size=9),
    st.integers(0, 9),
    st.lists(_SECONDS, max_size=9),
)
def test_the_limits_hold(
    least: int, more: int, waits: list[float], busy: int, idle: list[float]
) -> None:
    size, demand = Size(least, least + more), Demand(waits, busy, idle)
    wanted = wanted_workers(size, demand)
    assert wanted >= min(busy, demand.workers)  # none that has a job is released
    assert wanted >= least or wanted == demand.workers
    assert wanted <= max(size.most, busy)
    if waits and size.most:
        assert wanted > 0


@pytest.mark.parametrize(
    ("section", "size"),
    [
        ({"workers": 3}, Size(3, 3)),
        ({"min_workers": 1, "max_workers": 8}, Size(1, 8)),
        ({"workers": 2, "max_workers": 8}, Size(2, 8)),
        ({"max_workers": 8}, Size(0, 8)),
        (
            {"min_workers": 0, "max_workers": 2, "queue_length_threshold": 3,
             "upscale_delay_seconds": 1, "downscale_delay_seconds": 0},
            Size(0, 2, 3, 1.0, 0.0),
        ),
    ],
)  # fmt: skip
def test_the_section_of_a_task(section: dict[str, Any], size: Size) -> None:
    assert size_of(section) == size


def test_when_time_alone_changes_something() -> None:
    size = Size(1, 8, patience_s=5.0, idle_s=60.0)
    assert look_again_s(size, Demand([], 0, [10.0])) is None
    assert look_again_s(size, Demand([], 1, [10.0])) == 50.0
    assert look_again_s(size, Demand([2.0], 1, [10.0])) == 3.0
    assert look_again_s(size, Demand([7.0], 1, [])) is None
