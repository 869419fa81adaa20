"""Searches and trials for tests."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from trainway.optimization.decision import Decision, decide
from trainway.optimization.space import Choices, FloatRange
from trainway.optimization.study import Study
from trainway.optimization.trial import Point, Trial, TrialState

Measure = Callable[[Mapping[str, str]], float]


def study(**changes: Any) -> Study:
    """A search of ten trials, two at a time."""
    spaces = {"lr": FloatRange(1e-5, 1e-1, is_log=True), "opt": Choices(("sgd", "adam"))}
    given = {"trials": 10, "parallel": 2, "seed": "7", "spaces": spaces, **changes}
    return Study("demo", "loss", **given)


def trial(index: int, *values: float, state: TrialState = TrialState.SUCCEEDED) -> Trial:
    """One that reported these values, one at each step."""
    history = tuple(Point(step, value) for step, value in enumerate(values, 1))
    last = values[-1] if values else None
    return Trial(index, f"demo-{index}", {"lr": "0.1"}, state, last, history)


def active(index: int, *values: float) -> Trial:
    """One that is not over."""
    return trial(index, *values, state=TrialState.ACTIVE)


def searched(of: Study, measure: Measure) -> tuple[list[Trial], Decision]:
    """All trials of a search, each of which ends at once with its measure."""
    trials: list[Trial] = []
    while True:
        decision = decide(of, trials)
        if decision.status.is_over:
            return trials, decision
        for new in decision.create:
            made = Trial(new.index, f"demo-{new.index}", new.parameters, TrialState.SUCCEEDED)
            trials.append(replace(made, value=measure(new.parameters)))
