"""Random and grid search are repeatable and right; TPE finds more than random search does."""

import itertools
import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.optimization.space import Choices, FloatRange, IntRange, Space
from trainway.optimization.study import Algorithm
from trainway.optimization.suggestion import assignment, suggest
from trainway.optimization.testing import active, searched, study
from trainway.optimization.trial import Trial, TrialState

LIMITS = st.floats(-1e300, 1e300, allow_nan=False)
POSITIVE = st.floats(1e-300, 1e300)


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    kind = draw(st.sampled_from(["float", "log", "int", "log-int", "choices"]))
    if kind == "choices":
        return Choices(tuple(draw(st.lists(st.text(min_size=1), min_size=1, unique=True))))
    if kind in ("float", "log"):
        low, high = sorted(
            draw(st.lists(POSITIVE if kind == "log" else LIMITS, min_size=2, max_size=2))
        )
        return FloatRange(low, high, is_log=kind == "log")
    least = 1 if kind == "log-int" else -(2**63)
    ends = sorted(draw(st.lists(st.integers(least, 2**63 - 1), min_size=2, max_size=2)))
    return IntRange(ends[0], ends[1], is_log=kind == "log-int")


def is_in(space: Space, text: str) -> bool:
    match space:
        case Choices():
            return text in space.values
        case IntRange():
            return space.low <= int(text) <= space.high and len(text) <= 64
        case FloatRange():
            return space.low <= float(text) <= space.high and len(text) <= 64


@given(
    found=st.dictionaries(st.text(min_size=1), spaces(), min_size=1, max_size=4),
    seed=st.integers(),
    index=st.integers(0, 99),
)
def test_random_values_are_in_their_space_and_the_same_for_the_same_seed(
    found: dict[str, Space], seed: int, index: int
) -> None:
    one = assignment(study(spaces=found, seed=str(seed)), index)
    assert list(one) == list(found)
    assert all(is_in(found[name], text) for name, text in one.items())
    assert assignment(study(spaces=found, seed=str(seed)), index) == one


@given(
    lists=st.dictionaries(
        st.text(min_size=1),
        st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True),
        min_size=1,
        max_size=3,
    ),
    trials=st.integers(1, 100),
    parallel=st.integers(1, 5),
)
def test_a_grid_is_the_plain_product(
    lists: dict[str, list[str]], trials: int, parallel: int
) -> None:
    grid = study(
        spaces={name: Choices(tuple(values)) for name, values in lists.items()},
        algorithm=Algorithm.GRID,
        trials=trials,
        parallel=parallel,
    )
    found, _ = searched(grid, lambda _: 0.0)
    product = [dict(zip(lists, row, strict=True)) for row in itertools.product(*lists.values())]
    assert [trial.parameters for trial in found] == product[:trials]


@given(states=st.lists(st.sampled_from(TrialState), max_size=10), parallel=st.integers(1, 10))
def test_new_trials_follow_the_last_and_keep_the_limit(
    states: list[TrialState], parallel: int
) -> None:
    of = study(parallel=parallel)
    trials = [Trial(index, "", {}, state) for index, state in enumerate(states)]
    new = suggest(of, trials)
    assert [item.index for item in new] == list(range(len(states), len(states) + len(new)))
    assert len(states) + len(new) <= of.trials
    running = sum(state is TrialState.ACTIVE for state in states) + len(new)
    assert running <= max(parallel, running - len(new))
    assert [item.parameters for item in new] == [assignment(of, item.index) for item in new]


def test_a_deleted_trial_is_not_tried_again() -> None:
    (new,) = suggest(study(), [active(4)])
    assert new.index == 5


def test_seeds_and_trials_differ() -> None:
    of = study()
    values = {assignment(replace(of, seed=str(seed)), index)["lr"] for seed in (1, 2)
              for index in (0, 1)}  # fmt: skip
    assert len(values) == 4


def sphere(values: Mapping[str, str]) -> float:
    return sum((float(text) - 2.0) ** 2 for text in values.values())


def valley(values: Mapping[str, str]) -> float:
    """The function of Rosenbrock."""
    x, y = (float(text) for text in values.values())
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2


def training(values: Mapping[str, str]) -> float:
    """Like the loss of a training: one good learning rate, and one optimizer that suits it."""
    far = abs(math.log10(float(values["lr"])) + 3)
    return far + (0.0 if values["opt"] == "adam" else 0.5) + 0.02 * abs(int(values["layers"]) - 6)


CUBE: Final = {name: FloatRange(-5.0, 5.0) for name in ("a", "b", "c")}
PLANE: Final = {name: FloatRange(-2.0, 2.0) for name in ("x", "y")}
TRAINING: Final = {
    "lr": FloatRange(1e-6, 1.0, is_log=True),
    "opt": Choices(("sgd", "adam", "lion")),
    "layers": IntRange(1, 32, is_log=True),
}


@pytest.mark.parametrize(
    ("spaces", "measure"),
    [(CUBE, sphere), (PLANE, valley), (TRAINING, training)],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_tpe_beats_random_search_in_the_median_of_ten_seeds(
    spaces: dict[str, Space], measure: Callable[[Mapping[str, str]], float]
) -> None:
    found = {}
    for algorithm in (Algorithm.RANDOM, Algorithm.TPE):
        of = study(spaces=spaces, trials=40, parallel=1, algorithm=algorithm)
        best = []
        for seed in range(10):
            trials, _ = searched(replace(of, seed=str(seed)), measure)
            best.append(min(trial.measured or 0.0 for trial in trials))
        found[algorithm] = statistics.median(best)
    assert found[Algorithm.TPE] < found[Algorithm.RANDOM]


def test_tpe_is_repeatable_from_the_trials_alone() -> None:
    of = study(algorithm=Algorithm.TPE, trials=14, parallel=3)
    trials, _ = searched(of, lambda values: float(values["lr"]))
    known = [*trials[:11], replace(trials[11], state=TrialState.ACTIVE, value=None)]
    new = suggest(of, known)
    assert [item.index for item in new] == [12, 13]
    assert new == suggest(of, list(known))
    assert all(is_in(of.spaces[name], text) for item in new for name, text in
               item.parameters.items())  # fmt: skip


def test_tpe_takes_what_pruned_failed_and_changed_trials_say() -> None:
    of = study(algorithm=Algorithm.TPE)
    good = {"lr": "0.01", "opt": "sgd"}
    trials = [
        Trial(0, "demo-0", good, TrialState.SUCCEEDED, 0.5),
        Trial(1, "demo-1", good, TrialState.PRUNED, 0.9),
        Trial(2, "demo-2", good, TrialState.FAILED),
        Trial(3, "demo-3", {"lr": "9000"}, TrialState.SUCCEEDED, math.nan),
        Trial(4, "demo-4", {"lr": "9000", "opt": "sgd"}, TrialState.SUCCEEDED, 0.1),
    ]
    new = suggest(of, trials)
    assert [item.index for item in new] == [5, 6]
