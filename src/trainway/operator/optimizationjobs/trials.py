"""The trials of a search, read from its TrainJobs: all that is known of them stands there."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from trainway.jobset.labels import PARAMETERS, PRUNED
from trainway.jobset.status import conditions_of, find_true
from trainway.jobset.trainjob_status import PRUNED_REASON
from trainway.json_types import Json
from trainway.kube.owners import is_controlled_by
from trainway.optimization.names import index_of
from trainway.optimization.trial import Point, Trial, TrialState, number_of


def trials_of(uid: str, trainjobs: Iterable[Json], metric: str) -> list[Trial]:
    """The trials of the search with this uid, by their index."""
    own = (job for job in trainjobs if is_controlled_by(job, uid))
    return sorted(_read(own, metric), key=lambda trial: trial.index)


def with_history(trial: Trial, history: Sequence[Point]) -> Trial:
    """The trial, with what was seen of its objective before."""
    return replace(trial, history=history)


def point_of(trainjob: Json, metric: str) -> Point | None:
    """What a trial reports of the objective now; how far it is, is its step."""
    status = _trainer_status(trainjob)
    value, progress = _value(status, metric), status.get("progressPercentage")
    if value is None or not isinstance(progress, int):
        return None
    return Point(float(progress), value)


def state_of(trainjob: Json) -> TrialState:
    """What has become of a trial."""
    conditions = conditions_of(trainjob)
    if find_true(conditions, "Complete"):
        return TrialState.SUCCEEDED
    failed = find_true(conditions, "Failed")
    if failed is None:
        return TrialState.ACTIVE
    return TrialState.PRUNED if failed.get("reason") == PRUNED_REASON else TrialState.FAILED


def _read(trainjobs: Iterable[Json], metric: str) -> Iterator[Trial]:
    for job in trainjobs:
        index, metadata = index_of(job), job["metadata"]
        if index is not None:
            yield Trial(
                index,
                metadata["name"],
                _parameters(metadata),
                state_of(job),
                _value(_trainer_status(job), metric),
                is_stopping=PRUNED in (metadata.get("annotations") or {}),
            )


def _parameters(metadata: Json) -> dict[str, str]:
    """The values of a trial; none where somebody has spoilt the annotation."""
    text = (metadata.get("annotations") or {}).get(PARAMETERS, "")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {str(name): str(value) for name, value in found.items()}


def _trainer_status(trainjob: Json) -> Json:
    return (trainjob.get("status") or {}).get("trainerStatus") or {}


def _value(status: Json, metric: str) -> float | None:
    """What a trial reported of a metric last."""
    for item in status.get("metrics") or ():
        if item.get("name") == metric:
            return number_of(item.get("value"))
    return None
