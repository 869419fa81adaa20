"""The status of a TrainJob, derived from that of its JobSet.

A TrainJob has three conditions and no others, since clients read "no condition" as running:
Suspended once it was suspended, then Complete or Failed, which are copied from the JobSet. The
first of the two to hold stays: a finished TrainJob does not finish again. The deadline is ours to
watch, counted from the creation of the TrainJob or from its last resume.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from trainway.jobset.status import (
    conditions_of,
    find_condition,
    find_true,
    moment,
    set_condition,
)
from trainway.json_types import Json

_COUNTS = ("ready", "succeeded", "failed", "active", "suspended")
_SHORTEST_WAIT = timedelta(seconds=1)
_LONGEST_S = 100 * 365 * 86_400
"""The API allows a deadline that is later than any date."""
PRUNED_REASON = "Pruned"
_DEADLINE_REASON = "DeadlineExceeded"


@dataclass(frozen=True, slots=True)
class TrainJobFacts:
    """What of a TrainJob itself its status depends on."""

    created: datetime
    suspend: bool = False
    active_deadline_seconds: int | None = None
    pruned: str = ""
    """Why the search whose trial it is stopped it early; empty if it did not."""


@dataclass(frozen=True, slots=True)
class TrainJobOutcome:
    """The status to write, and what else is to be done."""

    status: Json
    look_again_after: timedelta | None = None
    """The time until the deadline passes."""
    delete_jobset: bool = False
    """Whether its deadline or a search ended the TrainJob while the JobSet is still there."""


def trainjob_status(
    job: TrainJobFacts,
    previous: Mapping[str, Any],
    jobset: Mapping[str, Any] | None,
    now: datetime,
) -> TrainJobOutcome:
    """The status that follows from the previous one, the JobSet (None: it is gone) and the time."""
    status = copy.deepcopy(dict(previous))
    conditions: list[Json] = status.pop("conditions", None) or []
    conditions = _with_suspended(conditions, now, suspend=job.suspend)
    if jobset is not None:
        conditions = _with_end(conditions, jobset, now)
        status["jobsStatus"] = _jobs_status(jobset)
    if job.pruned and not is_finished(conditions):
        pruned = _condition("Failed", PRUNED_REASON, job.pruned)
        conditions = set_condition(conditions, pruned, now)
    left = None if is_finished(conditions) else _time_left(job, conditions, now)
    if left is not None and left < timedelta():
        exceeded = _condition("Failed", _DEADLINE_REASON, "TrainJob exceeded its active deadline")
        conditions = set_condition(conditions, exceeded, now)
        left = None
    status = {"conditions": conditions, **status}
    return TrainJobOutcome(
        status={name: value for name, value in status.items() if value != []},
        look_again_after=None if left is None else max(left, _SHORTEST_WAIT),
        delete_jobset=_was_ended(conditions) and _is_alive(jobset),
    )


def unsupported_runtime_status(previous: Mapping[str, Any], runtime: str, now: datetime) -> Json:
    """The status of a TrainJob whose runtime is of a kind that nobody serves."""
    status = copy.deepcopy(dict(previous))
    message = f"unsupported runtime: {runtime}"
    failed = _condition("Failed", "TrainingRuntimeNotSupported", message)
    status["conditions"] = set_condition(status.get("conditions") or [], failed, now)
    return status


def is_finished(conditions: list[Json]) -> bool:
    """Whether the TrainJob has ended, well or badly."""
    return any(find_true(conditions, type_) for type_ in ("Complete", "Failed"))


def _condition(type_: str, reason: str, message: str, status: str = "True") -> Json:
    return {"type": type_, "status": status, "reason": reason, "message": message}


def _with_suspended(conditions: list[Json], now: datetime, *, suspend: bool) -> list[Json]:
    if suspend:
        suspended = _condition("Suspended", "Suspended", "TrainJob is suspended")
        return set_condition(conditions, suspended, now)
    if find_true(conditions, "Suspended"):
        resumed = _condition("Suspended", "Resumed", "TrainJob is resumed", "False")
        return set_condition(conditions, resumed, now)
    return conditions


def _with_end(conditions: list[Json], jobset: Mapping[str, Any], now: datetime) -> list[Json]:
    if is_finished(conditions):
        return conditions
    for theirs, ours in (("Completed", "Complete"), ("Failed", "Failed")):
        if end := find_true(conditions_of(jobset), theirs):
            return set_condition(conditions, {**end, "type": ours}, now)
    return conditions


def _jobs_status(jobset: Mapping[str, Any]) -> list[Json]:
    listed = (jobset.get("status") or {}).get("replicatedJobsStatus") or []
    return [
        {"name": item["name"], **{count: item.get(count, 0) for count in _COUNTS}}
        for item in listed
    ]


def _time_left(job: TrainJobFacts, conditions: list[Json], now: datetime) -> timedelta | None:
    if not job.active_deadline_seconds or job.suspend:
        return None
    begin = job.created
    suspended = find_condition(conditions, "Suspended")
    if suspended is not None and suspended["status"] == "False":
        begin = moment(suspended["lastTransitionTime"])
    return timedelta(seconds=min(job.active_deadline_seconds, _LONGEST_S)) - (now - begin)


def _was_ended(conditions: list[Json]) -> bool:
    """Whether the TrainJob has ended although its JobSet may go on."""
    failed = find_true(conditions, "Failed")
    return failed is not None and failed.get("reason") in (_DEADLINE_REASON, PRUNED_REASON)


def _is_alive(jobset: Mapping[str, Any] | None) -> bool:
    return jobset is not None and not (jobset.get("metadata") or {}).get("deletionTimestamp")
