"""The status of a TrainJob: what it is now, how to write it, and what there is to tell.

The rules are in `jobset.trainjob_status`. Here they are asked with the objects of the cluster, and
the answer becomes a patch that the API server refuses if the TrainJob has changed meanwhile: the
conditions are one list, and with an old list a patch would undo what another process has written.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from trainway.api.trainjob import GROUP
from trainway.compiler.trainjob import RUNTIME_KINDS
from trainway.jobset.labels import PRUNED
from trainway.jobset.status import conditions_of, find_condition, find_true, moment
from trainway.jobset.trainjob_status import (
    TrainJobFacts,
    TrainJobOutcome,
    is_finished,
    trainjob_status,
    unsupported_runtime_status,
)
from trainway.json_types import Json
from trainway.kube.owners import controller_of
from trainway.operator.trainjobs.annotations import annotation

NORMAL: Final = "Normal"
WARNING: Final = "Warning"


@dataclass(frozen=True, slots=True)
class News:
    """An event to tell the author of a TrainJob."""

    type: str
    reason: str
    message: str


def outcome(job: Json, jobset: Json | None, now: datetime) -> TrainJobOutcome:
    """The status by the TrainJob, its JobSet (None: it is not there) and the time."""
    previous = job.get("status") or {}
    unsupported = unsupported_runtime(job)
    if unsupported and not is_finished(conditions_of(job)):
        return TrainJobOutcome(unsupported_runtime_status(previous, unsupported, now))
    spec = job.get("spec") or {}
    facts = TrainJobFacts(
        created=moment(job["metadata"]["creationTimestamp"]),
        suspend=bool(spec.get("suspend")),
        active_deadline_seconds=spec.get("activeDeadlineSeconds"),
        pruned=_pruned(job),
    )
    return trainjob_status(facts, previous, jobset, now)


def _pruned(job: Json) -> str:
    """Why a search stopped its trial early; of other TrainJobs the annotation says nothing."""
    owner = controller_of(job) or {}
    return (annotation(job, PRUNED) or "") if owner.get("kind") == "OptimizationJob" else ""


def unsupported_runtime(job: Json) -> str:
    """The runtime's kind and group, where nobody serves it; else nothing."""
    ref = (job.get("spec") or {}).get("runtimeRef") or {}
    kind, group = ref.get("kind", RUNTIME_KINDS[0]), ref.get("apiGroup", GROUP)
    if group == GROUP and kind in RUNTIME_KINDS:
        return ""
    return f"{kind}.{group}" if group else str(kind)


def status_patch(job: Json, status: Json) -> Json | None:
    """The merge patch that makes this the TrainJob's status; None: it is already."""
    previous = job.get("status") or {}
    changed = {
        name: status.get(name)
        for name in ("conditions", "jobsStatus")
        if (status.get(name) or []) != (previous.get(name) or [])
    }
    if not changed:
        return None
    version = job["metadata"]["resourceVersion"]
    return {"metadata": {"resourceVersion": version}, "status": changed}


def news(before: Json, after: Json) -> list[News]:
    """What has happened between two statuses."""
    old, new = before.get("conditions") or [], after.get("conditions") or []
    told = []
    suspended = find_condition(new, "Suspended")
    if suspended is not None and suspended != find_condition(old, "Suspended"):
        told.append(News(NORMAL, suspended["reason"], suspended["message"]))
    for type_, kind in (("Complete", NORMAL), ("Failed", WARNING)):
        end = find_true(new, type_)
        if end is not None and find_true(old, type_) is None:
            reason = "Completed" if type_ == "Complete" else end["reason"]
            told.append(News(kind, reason, end["message"]))
    return told


def end_phase(before: Json, after: Json) -> str:
    """`Complete` or `Failed`, if the TrainJob has ended between two statuses; else nothing."""
    if is_finished(before.get("conditions") or []):
        return ""
    conditions = after.get("conditions") or []
    return next((end for end in ("Complete", "Failed") if find_true(conditions, end)), "")
