"""How a search goes on and ends, and which trials it stops early."""

import math
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.optimization.decision import COMPLETE, CREATED, FAILED, decide
from trainway.optimization.pruning import stops
from trainway.optimization.space import Choices
from trainway.optimization.study import Algorithm, Pruning
from trainway.optimization.testing import active, searched, study, trial
from trainway.optimization.trial import Trial, TrialState

PRUNED, BROKEN = TrialState.PRUNED, TrialState.FAILED
GOOD = [trial(index, 0.9, 0.6, 0.4, 0.3) for index in range(4)]


def end_of(trials: list[Trial], of: int, problem: str = "") -> tuple[str, str, str]:
    found = decide(study(trials=of), trials, problem)
    assert not found.create
    last = found.status.conditions[-1]
    return last.type, last.reason, last.message


@dataclass(frozen=True)
class Ending:
    trials: list[Trial]
    type: str
    reason: str
    message: str
    problem: str = ""
    size: int = 2


@pytest.mark.parametrize(
    "case",
    [
        Ending(
            [trial(0, 0.5), trial(1, 0.2)],
            COMPLETE,
            "MaxTrialsReached",
            "2 trials: 2 succeeded; demo-1 is the best, with loss 0.2",
        ),
        Ending(
            [trial(0, 0.5), trial(1, 0.2, state=BROKEN), trial(2, 0.1, state=PRUNED)],
            COMPLETE,
            "MaxTrialsReached",
            "3 trials: 1 succeeded, 1 pruned, 1 failed; demo-0 is the best, with loss 0.5",
            size=3,
        ),
        Ending(
            [trial(0, state=BROKEN), trial(1, state=BROKEN)],
            FAILED,
            "AllTrialsFailed",
            "2 trials: 2 failed",
        ),
        Ending(
            [trial(0), trial(1, math.nan)],
            FAILED,
            "ObjectiveNotReported",
            "no trial that succeeded reported loss",
        ),
        Ending([active(0)], FAILED, "TrainJobsCreationFailed", "no room", "no room"),
    ],
    ids=lambda case: case.reason,
)
def test_the_end_of_a_search(case: Ending) -> None:
    assert end_of(case.trials, case.size, case.problem) == (case.type, case.reason, case.message)


def test_a_search_goes_on_while_a_trial_is_active_or_missing() -> None:
    found = decide(study(trials=3), [trial(0, 0.5), active(1)])
    assert [item.type for item in found.status.conditions] == [CREATED]
    assert found.status.conditions[0].message == "the search has 3 trials, at most 2 at a time"
    assert [item.index for item in found.create] == [2]
    assert found.status.result == {
        "trainJobName": "demo-0",
        "parameters": [{"name": "lr", "value": "0.1"}],
    }


def test_a_search_that_has_failed_ends_its_trials() -> None:
    found = decide(study(), [active(0), replace(active(1), is_stopping=True)], "no room")
    assert [stop.trial.name for stop in found.stop] == ["demo-0"]


def test_a_grid_that_is_smaller_than_asked_for_is_exhausted() -> None:
    grid = study(spaces={"bs": Choices(("8", "16"))}, algorithm=Algorithm.GRID)
    trials, last = searched(grid, lambda values: float(values["bs"]))
    assert len(trials) == 2
    assert last.status.conditions[-1].reason == "SearchSpaceExhausted"


@given(
    values=st.lists(st.floats(allow_nan=True) | st.none(), min_size=10, max_size=10),
    maximize=st.booleans(),
)
def test_the_best_is_the_best_of_those_that_can_be_compared(
    values: list[float | None], maximize: bool
) -> None:
    trials = [replace(trial(index), value=value) for index, value in enumerate(values)]
    found = decide(study(maximize=maximize), trials).status.best
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if found is None:
        assert not finite
    else:
        assert found.value == (max(finite) if maximize else min(finite))
        assert found.index == values.index(found.value)


@dataclass(frozen=True)
class Case:
    trial: Trial
    why: str
    pruning: Pruning = Pruning.MEDIAN


MEDIAN = "loss was 0.8 at best until step 2, and the median of 4 other trials was 0.6"
HALF = "loss was 0.8 at best until step 2, where 4 of 5 trials were better"


@pytest.mark.parametrize(
    "case",
    [
        Case(active(9, 0.9, 0.8), MEDIAN),
        Case(active(9, 0.9, 0.6), ""),
        Case(active(9, 0.5, 0.8), ""),
        Case(active(9), ""),
        Case(active(9, 0.9, math.nan), "loss is nan at step 2"),
        Case(active(9, 0.9, math.inf), "loss is inf at step 2"),
        Case(replace(active(9, 0.9, 0.8), is_stopping=True), ""),
        Case(trial(9, 0.9, 0.8), ""),
        Case(active(9, 0.9, 0.8), HALF, Pruning.HALVING),
        Case(active(9, 0.9, 0.5), "", Pruning.HALVING),
    ],
    ids=lambda case: f"{case.pruning}-{case.why[:12]}",
)
def test_a_trial_that_is_worse_is_stopped(case: Case) -> None:
    found = stops(study(pruning=case.pruning), [*GOOD, case.trial])
    assert [(stop.trial, stop.why) for stop in found] == [(case.trial, case.why)][: bool(case.why)]


def test_the_larger_may_be_the_better() -> None:
    low, high = active(8, 0.1, 0.2), active(9, 0.9, 0.95)
    found = stops(study(pruning=Pruning.MEDIAN, maximize=True), [*GOOD, low, high])
    assert [stop.trial for stop in found] == [low]


@pytest.mark.parametrize("pruning", Pruning)
def test_nothing_is_stopped_before_there_is_something_to_compare_with(pruning: Pruning) -> None:
    bad = active(9, 9.0, 9.0)
    assert not stops(study(pruning=pruning), [*GOOD[:3], bad])
    running = [replace(one, state=TrialState.ACTIVE) for one in GOOD]
    assert not stops(study(pruning=pruning), [*running, bad])
    assert not stops(study(), [*GOOD, bad])


def test_a_trial_has_a_quarter_of_its_time_whatever_it_reports() -> None:
    long = [trial(index, *(0.5,) * 40) for index in range(4)]
    assert not stops(study(pruning=Pruning.MEDIAN), [*long, active(9, *(0.9,) * 9)])
    assert stops(study(pruning=Pruning.MEDIAN), [*long, active(9, *(0.9,) * 10)])
