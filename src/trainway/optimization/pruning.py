"""Which trials are not worth finishing, judged by what all of them reported so far.

A trial is compared at the step that it has reached, by its best value up to there, with the others
that have come as far. How long a trial takes is known from those that succeeded; before one has,
none is stopped, unless its objective is no number any more.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from trainway.optimization.study import Pruning, Study
from trainway.optimization.trial import Trial, TrialState

_FEWEST: Final = 4
"""So many trials must have come as far before one is stopped for being worse."""
_WARM_UP: Final = 0.25
"""The part of a whole trial that the median lets each of them have."""
_RUNGS: Final = (0.5, 0.25, 0.125)
"""The parts of a whole trial after which the worse half ends, the last one first."""


@dataclass(frozen=True)
class Stop:
    """A trial that is to be stopped."""

    trial: Trial
    why: str


def stops(study: Study, trials: Sequence[Trial]) -> list[Stop]:
    """The trials to stop now."""
    if study.pruning is None:
        return []
    whole = _whole(trials)
    found = []
    for trial in trials:
        if trial.is_active and not trial.is_stopping and trial.history:
            why = _reason(study, trial, trials, whole)
            if why:
                found.append(Stop(trial, why))
    return found


def _reason(study: Study, trial: Trial, trials: Sequence[Trial], whole: float | None) -> str:
    """Why a trial is to be stopped; empty: it is not."""
    last = trial.history[-1]
    if not math.isfinite(last.value):
        return f"{study.metric} is {last.value} at step {last.step:g}"
    if whole is None:
        return ""
    if study.pruning is Pruning.HALVING:
        return _below_half(study, trial, trials, whole)
    return _below_median(study, trial, trials, whole)


def _below_median(study: Study, trial: Trial, trials: Sequence[Trial], whole: float) -> str:
    step = _reached(trial)
    others = _values(study, (other for other in trials if other is not trial), step)
    mine = _value(study, trial, step)
    if step < _WARM_UP * whole or len(others) < _FEWEST or mine is None:
        return ""
    median = statistics.median(others)
    if _sign(study) * mine <= _sign(study) * median:
        return ""
    return (
        f"{study.metric} was {mine:g} at best until step {step:g}, and the median of "
        f"{len(others)} other trials was {median:g}"
    )


def _below_half(study: Study, trial: Trial, trials: Sequence[Trial], whole: float) -> str:
    reached = _reached(trial)
    for part in _RUNGS:
        step = part * whole
        if reached < step:
            continue
        mine, all_ = _value(study, trial, step), _values(study, trials, step)
        if mine is None or len(all_) <= _FEWEST:
            return ""
        better = sum(_sign(study) * value < _sign(study) * mine for value in all_)
        if better < math.ceil(len(all_) / 2):
            return ""
        return (
            f"{study.metric} was {mine:g} at best until step {step:g}, where {better} of "
            f"{len(all_)} trials were better"
        )
    return ""


def _whole(trials: Iterable[Trial]) -> float | None:
    """The last step of a trial that is not stopped; None: it is not known yet."""
    last = [
        _reached(trial) for trial in trials if trial.state is TrialState.SUCCEEDED and trial.history
    ]
    return statistics.median(last) if last else None


def _reached(trial: Trial) -> float:
    """How far a trial has come; one that was restarted may be behind that now."""
    return max(point.step for point in trial.history)


def _values(study: Study, trials: Iterable[Trial], step: float) -> list[float]:
    """The best values until a step, of those that have come so far."""
    far = [trial for trial in trials if trial.history and _reached(trial) >= step]
    found = [_value(study, trial, step) for trial in far]
    return [value for value in found if value is not None]


def _value(study: Study, trial: Trial, step: float) -> float | None:
    """The best value of a trial until a step."""
    points = [point.value for point in trial.history if point.step <= step]
    finite = [value for value in points if math.isfinite(value)]
    return min(finite, key=lambda value: _sign(study) * value) if finite else None


def _sign(study: Study) -> float:
    """Makes the smaller the better."""
    return -1.0 if study.maximize else 1.0
