"""Trials: the plain product, the same ones for the same seed, and what is refused."""

import itertools
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.errors import UsageError
from trainway.sweep.parameter import variable
from trainway.sweep.space import Interval, Samples, Sweep, interval

VALUES = st.lists(
    st.text("0123456789.e-", min_size=1, max_size=5), min_size=1, max_size=4, unique=True
)
GRIDS = st.dictionaries(st.sampled_from("abcd"), VALUES, min_size=1)
ROWS = st.integers(1, 4).flatmap(
    lambda rows: st.dictionaries(
        st.sampled_from("wxyz"), st.lists(st.sampled_from("123"), min_size=rows, max_size=rows)
    )
)


@given(GRIDS, ROWS)
def test_the_trials_are_the_plain_product(
    grid: dict[str, list[str]], together: dict[str, list[str]]
) -> None:
    rows = list(zip(*together.values(), strict=True)) if together else [()]
    expected = [
        {**dict(zip(grid, values, strict=True)), **dict(zip(together, row, strict=True))}
        for *values, row in itertools.product(*grid.values(), rows)
    ]
    assert Sweep(grid, together).trials() == expected


@given(st.integers(), st.integers(1, 20), VALUES)
def test_the_same_seed_has_the_same_trials(seed: int, count: int, values: list[str]) -> None:
    drawn: dict[str, list[str] | Interval] = {
        "lr": Interval("log", 1e-5, 0.1),
        "layers": Interval("int", 2, 8),
        "kind": values,
    }
    trials = Sweep(samples=Samples(count, seed, drawn)).trials()
    assert trials == Sweep(samples=Samples(count, seed, drawn)).trials()
    assert len(trials) == count
    for trial in trials:
        assert 1e-5 <= float(trial["lr"]) <= 0.1
        assert int(trial["layers"]) in range(2, 9)
        assert trial["kind"] in values


def test_another_seed_has_other_trials_and_a_new_parameter_changes_no_old_one() -> None:
    lr = {"lr": interval("lr", "uniform:0:1")}
    assert Samples(5, 1, lr).rows() != Samples(5, 2, lr).rows()
    more = Samples(5, 1, {"wd": interval("wd", "uniform:0:1"), **lr}).rows()
    assert [row["lr"] for row in more] == [row["lr"] for row in Samples(5, 1, lr).rows()]


def test_samples_are_combined_with_the_grid() -> None:
    trials = Sweep({"lr": ["1", "2"]}, samples=Samples(3, 0, {"x": ["a", "b"]})).trials()
    assert [trial["lr"] for trial in trials] == ["1", "1", "1", "2", "2", "2"]
    assert trials[:3] == [{**trial, "lr": "1"} for trial in trials[3:]]


@dataclass(frozen=True)
class Case:
    sweep: Sweep
    problem: str


REFUSED = {
    "nothing": Case(Sweep(), "no parameters"),
    "no values": Case(Sweep({"lr": []}), "lr has no values"),
    "an empty value": Case(Sweep({"lr": ["1", ""]}), "lr has an empty value"),
    "the same value": Case(Sweep({"lr": ["1", "2", "1"]}), "lr has the value 1 twice"),
    "a wrong name": Case(Sweep({"l r": ["1"]}), "'l r' cannot be the name"),
    "one variable": Case(Sweep({"a-b": ["1"], "a_b": ["2"]}), "TRAINWAY_PARAM_A_B"),
    "two sections": Case(Sweep({"lr": ["1"]}, {"lr": ["2"]}), "lr is in the sweep twice"),
    "uneven lists": Case(Sweep({}, {"a": ["1"], "b": ["1", "2"]}), "a has 1, b has 2"),
    "too many": Case(
        Sweep({name: list("0123456789") for name in "abcd"}), "10000 trials, and one run has 1000"
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_sweep_that_is_wrong_says_so(case: Case) -> None:
    with pytest.raises(UsageError, match=case.problem):
        case.sweep.trials()


@pytest.mark.parametrize(
    "text", ["log:0:1", "uniform:2:1", "int:1.5:3", "log:1", "normal:0:1", "uniform:a:b", ""]
)
def test_a_range_that_is_wrong_says_so(text: str) -> None:
    with pytest.raises(UsageError, match="is not a range of values for lr"):
        interval("lr", text)


def test_a_parameter_has_a_variable() -> None:
    assert variable("weight-decay.x") == "TRAINWAY_PARAM_WEIGHT_DECAY_X"
