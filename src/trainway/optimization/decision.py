"""What a search does next, and its status, decided from a snapshot of its trials.

A trial that fails counts as one of them. The search is complete when all have ended and one at
least succeeded and reported the objective; else it has failed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from trainway.counting import counted
from trainway.optimization.pruning import Stop, stops
from trainway.optimization.study import Study
from trainway.optimization.suggestion import Suggestion, suggest
from trainway.optimization.trial import Trial, TrialState, best

CREATED: Final = "Created"
COMPLETE: Final = "Complete"
FAILED: Final = "Failed"


class Reason(StrEnum):
    """The reasons of conditions."""

    CREATED = "OptimizationJobCreated"
    MAX_TRIALS = "MaxTrialsReached"
    EXHAUSTED = "SearchSpaceExhausted"
    """A grid had fewer combinations than there were to be trials."""
    CREATION_FAILED = "TrainJobsCreationFailed"
    TRIALS_FAILED = "AllTrialsFailed"
    NO_OBJECTIVE = "ObjectiveNotReported"


@dataclass(frozen=True)
class Verdict:
    """A condition that holds now; when it began to hold, its writer knows."""

    type: str
    reason: Reason
    message: str


@dataclass(frozen=True)
class SearchStatus:
    """The status of a search."""

    conditions: tuple[Verdict, ...]
    best: Trial | None
    counts: Counter[TrialState] = field(default_factory=Counter)

    @property
    def is_over(self) -> bool:
        """Whether no trial will be created any more."""
        return any(item.type in (COMPLETE, FAILED) for item in self.conditions)

    @property
    def result(self) -> dict[str, Any] | None:
        """`status.result` of an OptimizationJob."""
        if self.best is None:
            return None
        parameters = [{"name": name, "value": text} for name, text in self.best.parameters.items()]
        return {"trainJobName": self.best.name, "parameters": parameters}


@dataclass(frozen=True)
class Decision:
    """What to do now."""

    create: tuple[Suggestion, ...]
    """In this order: the index of a trial is free once its predecessor is stored."""
    stop: tuple[Stop, ...]
    status: SearchStatus


def decide(study: Study, trials: Sequence[Trial], problem: str = "") -> Decision:
    """What a search does next. `problem` says why a trial could not be created, and ends it.

    Not to be asked any more once the search is over: a trial that was deleted then is not missed.
    """
    status = _status_of(study, trials, problem)
    if status.is_over:
        active = [trial for trial in trials if trial.is_active and not trial.is_stopping]
        why = "the search has ended"
        return Decision((), tuple(Stop(trial, why) for trial in active), status)
    return Decision(tuple(suggest(study, trials)), tuple(stops(study, trials)), status)


def _status_of(study: Study, trials: Sequence[Trial], problem: str) -> SearchStatus:
    counts = Counter(trial.state for trial in trials)
    found = best(trials, maximize=study.maximize)
    said = _said(study, counts, found)
    conditions = [Verdict(CREATED, Reason.CREATED, f"the search has {_asked(study)}")]
    end = _end(study, trials, found, problem)
    if end is not None:
        type_, reason, message = end
        conditions.append(Verdict(type_, reason, message or said))
    return SearchStatus(tuple(conditions), found, counts)


def _end(
    study: Study, trials: Sequence[Trial], found: Trial | None, problem: str
) -> tuple[str, Reason, str] | None:
    """How the search has ended, and in which words, if there are better ones than the counts."""
    if problem:
        return FAILED, Reason.CREATION_FAILED, problem
    begun = max((trial.index for trial in trials), default=-1) + 1
    if begun < study.size or any(trial.is_active for trial in trials):
        return None
    if found is not None:
        is_less = study.size < study.trials
        return COMPLETE, Reason.EXHAUSTED if is_less else Reason.MAX_TRIALS, ""
    if any(trial.state is TrialState.SUCCEEDED for trial in trials):
        return FAILED, Reason.NO_OBJECTIVE, f"no trial that succeeded reported {study.metric}"
    return FAILED, Reason.TRIALS_FAILED, ""


def _asked(study: Study) -> str:
    return f"{counted(study.size, 'trial')}, at most {study.parallel} at a time"


def _said(study: Study, counts: Counter[TrialState], found: Trial | None) -> str:
    """`12 trials: 9 succeeded, 2 pruned, 1 failed; demo-3 is the best, with loss 0.31`."""
    order = (TrialState.SUCCEEDED, TrialState.PRUNED, TrialState.FAILED)
    told = ", ".join(f"{counts[state]} {state.lower()}" for state in order if counts[state])
    line = f"{counted(counts.total(), 'trial')}: {told}"
    if found is None:
        return line
    return f"{line}; {found.name} is the best, with {study.metric} {found.value:g}"
