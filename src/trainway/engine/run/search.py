"""A search as a run keeps it: what was asked for, what its trials are made of, and how it ended.

Which trials there are and what they found is in the jobs of the run alone. Pure.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trainway.engine.costs.account import charged, one_of_several, part, run_budget
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.engine.run.record import NewRun, RunRecord
from trainway.engine.submission import JOB_TYPES, Submission, name_of, type_of
from trainway.engine.wishes import PRUNED
from trainway.jobset.labels import ACCOUNT, OPTIMIZATION_JOB, TRIAL_INDEX
from trainway.json_types import Json
from trainway.optimization.decision import SearchStatus, decide
from trainway.optimization.names import trial_name, variables
from trainway.optimization.study import Study
from trainway.optimization.suggestion import Suggestion
from trainway.optimization.trial import Point, Trial, TrialState, number_of
from trainway.sweep.parameter import check_names
from trainway.sweep.placeholders import assigned
from trainway.sweep.placeholders import variables as parameter_variables
from trainway.sweep.ranks import ranked


@dataclass(frozen=True)
class Search:
    """What is known of a search before its first trial."""

    wanted: Json
    """What was asked for, in the form of `optimization.request`."""
    trials: int
    """How many there are to be; more than were asked for if it was continued."""
    seed: str
    """What stands for the seed where none was given."""
    placeholders: bool = True

    @classmethod
    def of(cls, name: str, submission: Submission, seed: str) -> "Search":
        """The search of a submission; an InvalidError says what is wrong with it."""
        wanted = dict(submission.search or {})
        study = _requested(name, wanted)
        if submission.placeholders:
            check_names(study.spaces)
        return cls(wanted, study.trials, seed, submission.placeholders)

    @classmethod
    def stored(cls, text: str) -> "Search":
        """The one that a run has."""
        return cls(**json.loads(text))

    def text(self) -> str:
        """As a run has it."""
        return json.dumps(self.__dict__)

    def study(self, name: str) -> Study:
        """The search of the run of that name."""
        found = _requested(name, self.wanted)
        given = self.wanted["spec"].get("searchAlgorithm") or {}
        is_seeded = (given.get("random") or {}).get("seed") is not None
        return replace(found, trials=self.trials, seed=found.seed if is_seeded else self.seed)


def _requested(name: str, wanted: Json) -> Study:
    from trainway.optimization.request import requested  # noqa: PLC0415 - the models of all kinds

    return requested(name, wanted)


def first_trials(submission: Submission, seed: str) -> tuple[list[Submission], NewRun]:
    """The trials that a search begins with, and the run that they are; InvalidError if it is none.

    The first has the key of the request; the others one that follows from it.
    """
    submission = charged(submission)
    budget, account = run_budget(submission), submission.labels.get(ACCOUNT, "")
    submission, name = one_of_several(submission), name_of(submission)
    search = Search.of(name, submission, seed)
    study, trials = search.study(name), []
    for rank, suggestion in enumerate(decide(study, []).create):
        trial = trial_submission(submission, study, suggestion, submission.objects)
        key = f"{submission.key}/{rank}" if submission.key and rank else submission.key
        trials.append(replace(part(trial, account, str(suggestion.index)), key=key))
    return trials, NewRun(
        *(name, study.parallel),
        size=study.size,
        search=search.text(),
        template=json.dumps(list(submission.objects)),
        budget=budget,
    )


def trial_submission(
    base: Submission, study: Study, suggestion: Suggestion, template: Sequence[Json]
) -> Submission:
    """The submission of one trial, which has all but its objects from another of the same run."""
    parameters, rank = suggestion.parameters, suggestion.index
    objects = [
        assigned(obj, parameters, replace=base.placeholders) if type_of(obj) in JOB_TYPES else obj
        for obj in template
    ]
    told = {**parameter_variables(parameters), **variables(parameters)}
    labels = {**base.labels, OPTIMIZATION_JOB: study.name, TRIAL_INDEX: str(rank)}
    return replace(
        base,
        objects=ranked(objects, rank, study.size, told),
        name=trial_name(study.name, rank),
        labels=labels,
        num_jobs=None,
        parameters=None,
        parallel=None,
        search=None,
    )


def key_of(run: RunRecord, index: int) -> str:
    """What keeps a trial from being created twice."""
    return f"search/{run.id}/{index}"


def trial_of(
    record: JobRecord, metric: str, value: float | None, history: Sequence[Point]
) -> Trial | None:
    """A job of a run as its search sees it; None: it is none of its trials."""
    index = record.label_map.get(TRIAL_INDEX, "")
    if not index.isdecimal():
        return None
    return Trial(
        int(index),
        record.name,
        record.parameter_map,
        _state(record),
        _reported(record, metric) if value is None else value,
        history,
        is_stopping=record.phase == Phase.STOPPING,
    )


def _reported(record: JobRecord, metric: str) -> float | None:
    """What a job reported last of a metric, by its own record."""
    items = record.progress_data.get("metrics") or () if record.progress else ()
    return next((number_of(item["value"]) for item in items if item["name"] == metric), None)


def _state(record: JobRecord) -> TrialState:
    match record.phase:
        case Phase.SUCCEEDED:
            return TrialState.SUCCEEDED
        case Phase.CANCELLED if record.reason == PRUNED:
            return TrialState.PRUNED
        case Phase.FAILED | Phase.CANCELLED:
            return TrialState.FAILED
    return TrialState.ACTIVE


def outcome(status: SearchStatus) -> Json:
    """How a search that is over ended, as a run keeps it."""
    last = status.conditions[-1]
    return {"type": last.type, "reason": last.reason, "message": last.message}


def cancelled() -> Json:
    """How a search ends that somebody cancels."""
    return {"type": "Cancelled", "reason": "Cancelled", "message": "it was cancelled"}


def search_view(search: Search, study: Study, best: Trial | None) -> Mapping[str, Any]:
    """A search in the answer about its run."""
    view: Json = {
        "metric": study.metric,
        "direction": "Maximize" if study.maximize else "Minimize",
        "algorithm": study.algorithm,
        "pruning": study.pruning,
        "spec": search.wanted["spec"],
        "trials": search.trials,
        "best": None,
    }
    if best is not None:
        parameters = dict(best.parameters)
        view["best"] = {"name": best.name, "value": best.value, "parameters": parameters}
    return view
