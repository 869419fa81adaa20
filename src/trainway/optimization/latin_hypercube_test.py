"""The first trials of a search that learns lie apart, in their spaces, and repeatably."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.optimization.latin_hypercube import latin_hypercube
from trainway.optimization.space import Choices, FloatRange, IntRange
from trainway.optimization.study import Algorithm
from trainway.optimization.suggestion import suggest
from trainway.optimization.testing import study

SPACES = {
    "lr": FloatRange(1e-5, 1e-1, is_log=True),
    "dropout": FloatRange(0.0, 1.0),
    "layers": IntRange(1, 8),
    "width": IntRange(1, 2**63 - 1, is_log=True),
    "seats": IntRange(-(2**63), 2**63 - 1),
    "opt": Choices(("sgd", "adam")),
}


@given(seed=st.integers(), size=st.integers(1, 8))
def test_each_trial_has_another_part_of_each_parameter(seed: int, size: int) -> None:
    of = study(spaces=SPACES, seed=str(seed))
    trials = [latin_hypercube(of, size, index) for index in range(size)]
    assert trials == [latin_hypercube(of, size, index) for index in range(size)]
    for part, dropout in enumerate(sorted(float(trial["dropout"]) for trial in trials)):
        assert part / size - 1e-5 <= dropout <= (part + 1) / size + 1e-5  # six digits are kept
    for trial in trials:
        assert 1e-5 <= float(trial["lr"]) <= 1e-1
        assert 1 <= int(trial["layers"]) <= 8
        assert 1 <= int(trial["width"]) <= 2**63 - 1
        assert -(2**63) <= int(trial["seats"]) <= 2**63 - 1
        assert trial["opt"] in ("sgd", "adam")


@pytest.mark.parametrize("seed", ["", "7", "eight"])
def test_all_choices_and_whole_numbers_are_tried(seed: str) -> None:
    of = study(spaces=SPACES, seed=seed)
    trials = [latin_hypercube(of, 8, index) for index in range(8)]
    assert sorted(trial["opt"] for trial in trials) == ["adam"] * 4 + ["sgd"] * 4
    assert sorted(trial["layers"] for trial in trials) == list("12345678")


def test_a_search_that_learns_begins_with_it() -> None:
    of = study(spaces=SPACES, seed="7", algorithm=Algorithm.TPE, trials=12, parallel=4)
    expected = [latin_hypercube(of, 8, index) for index in range(4)]
    assert [new.parameters for new in suggest(of, [])] == expected
