"""A trial as the search sees it, whoever runs it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class TrialState(StrEnum):
    """What has become of a trial."""

    ACTIVE = "Active"
    """It waits, runs or is being stopped."""
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    """It ended without success, also by somebody who cancelled it."""
    PRUNED = "Pruned"
    """The search stopped it early."""


@dataclass(frozen=True)
class Point:
    """What a trial reported of the objective at one step."""

    step: float
    value: float


@dataclass(frozen=True)
class Trial:
    """One trial at a moment."""

    index: int
    """Counted from 0; a trial that was deleted leaves a gap."""
    name: str
    parameters: Mapping[str, str]
    state: TrialState = TrialState.ACTIVE
    value: float | None = None
    """What it reported of the objective last."""
    history: Sequence[Point] = ()
    """All that it reported of the objective, by step, as far as it is known."""
    is_stopping: bool = False
    """Whether it was told to end already."""

    @property
    def is_active(self) -> bool:
        """Whether it counts against the limit of trials at a time."""
        return self.state is TrialState.ACTIVE

    @property
    def measured(self) -> float | None:
        """Its objective, if it is a number that can be compared."""
        value = self.value
        return value if value is not None and math.isfinite(value) else None


def number_of(text: object) -> float | None:
    """The number that a metric was reported as; None if it is none."""
    try:
        return float(str(text))
    except ValueError:
        return None


def best(trials: Iterable[Trial], *, maximize: bool) -> Trial | None:
    """The best of those that have succeeded; of equal ones the first."""
    sign = -1.0 if maximize else 1.0
    ranked = [
        (sign * trial.measured, trial.index, trial)
        for trial in trials
        if trial.state is TrialState.SUCCEEDED and trial.measured is not None
    ]
    return min(ranked, key=lambda item: item[:2])[2] if ranked else None
