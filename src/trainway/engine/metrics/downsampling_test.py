from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.engine.metrics.downsampling import survivors, thinned


class Sample(NamedTuple):
    seq: int
    value: float


SAMPLES = st.builds(
    lambda gaps, values: [
        Sample(sum(gaps[: place + 1]), value)
        for place, (_, value) in enumerate(zip(gaps, values, strict=False))
    ],
    st.lists(st.integers(1, 9), max_size=120),
    st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5, -7.0, 1e300]), max_size=120),
)
LEVELS = st.integers(0, 9)


@given(SAMPLES, LEVELS)
def test_first_last_smallest_and_largest_of_every_bucket_survive(
    points: list[Sample], level: int
) -> None:
    kept = survivors(points, level)
    for number in {point.seq >> level for point in points}:
        bucket = [point for point in points if point.seq >> level == number]
        left = [point for point in kept if point.seq >> level == number]
        assert (left[0], left[-1]) == (bucket[0], bucket[-1])
        assert min(p.value for p in left) == min(p.value for p in bucket)
        assert max(p.value for p in left) == max(p.value for p in bucket)
        assert len(left) <= 4
    assert kept == sorted(set(kept) & set(points), key=lambda point: point.seq)


@given(SAMPLES, LEVELS, LEVELS)
def test_a_series_may_be_thinned_before(points: list[Sample], level: int, before: int) -> None:
    lower = min(level, before)
    assert survivors(survivors(points, lower), level) == survivors(points, level)


@given(SAMPLES, st.integers(4, 60))
def test_the_bound_holds_and_the_ends_and_extremes_stay(points: list[Sample], most: int) -> None:
    kept = thinned(points, most)
    assert len(kept) <= most
    assert (kept == points) == (len(points) <= most)
    if points:
        assert (kept[0], kept[-1]) == (points[0], points[-1])
        assert min(p.value for p in kept) == min(p.value for p in points)
        assert max(p.value for p in kept) == max(p.value for p in points)


def test_nothing_can_be_thinned_to_less_than_a_bucket() -> None:
    with pytest.raises(ValueError, match="fewer than 4"):
        thinned([], 3)
