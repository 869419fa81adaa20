"""The status of an OptimizationJob: what to write, and what to tell."""

from datetime import datetime
from typing import Final, NamedTuple

from trainway.jobset.status import find_true, set_condition
from trainway.json_types import Json
from trainway.optimization.decision import COMPLETE, CREATED, FAILED, Reason, SearchStatus, Verdict

ENDS: Final = (COMPLETE, FAILED)
NORMAL: Final = "Normal"
WARNING: Final = "Warning"
_LONGEST_MESSAGE: Final = 1024


class News(NamedTuple):
    """An event to tell the author of a search."""

    type: str
    reason: str
    message: str


def status_of(previous: Json, search: SearchStatus, now: datetime) -> Json:
    """The status that follows; a condition that held before keeps its time."""
    conditions: list[Json] = previous.get("conditions") or []
    for verdict in search.conditions:
        conditions = set_condition(conditions, _condition(verdict), now)
    result = search.result
    return {"conditions": conditions} | ({"result": result} if result else {})


def refused(problem: str) -> SearchStatus:
    """The status of a search that cannot begin."""
    created = Verdict(CREATED, Reason.CREATED, "the search was seen")
    return SearchStatus((created, Verdict(FAILED, Reason.CREATION_FAILED, problem)), None)


def end_of(status: Json) -> str:
    """`Complete` or `Failed`, if the search has ended; else nothing."""
    conditions = status.get("conditions") or []
    return next((end for end in ENDS if find_true(conditions, end)), "")


def phase_of(obj: Json) -> str:
    """The status of a search in one word, for counting."""
    status = obj.get("status") or {}
    return end_of(status) or ("Running" if status.get("conditions") else "Pending")


def news(before: Json, after: Json) -> list[News]:
    """What has happened between two statuses."""
    old, new = before.get("conditions") or [], after.get("conditions") or []
    told = []
    for type_, kind in ((CREATED, NORMAL), (COMPLETE, NORMAL), (FAILED, WARNING)):
        found = find_true(new, type_)
        if found is not None and find_true(old, type_) is None:
            told.append(News(kind, found["reason"], found["message"]))
    return told


def _condition(verdict: Verdict) -> Json:
    message = verdict.message[:_LONGEST_MESSAGE]
    return {
        "type": verdict.type,
        "status": "True",
        "reason": str(verdict.reason),
        "message": message,
    }
