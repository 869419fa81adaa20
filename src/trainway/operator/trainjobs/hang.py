"""Whether a TrainJob that reported progress has stopped doing so.

Nothing is done about it: its author hears of it once, and again only after new progress.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from trainway.jobset.hang import time_left
from trainway.jobset.labels import HANG_REPORTED, HANG_TIMEOUT
from trainway.jobset.status import conditions_of, find_condition, moment
from trainway.jobset.trainjob_status import is_finished
from trainway.json_types import Json
from trainway.operator.trainjobs.annotations import annotation, seconds

_METRICS_SHOWN: Final = 4


@dataclass(frozen=True, slots=True)
class Watch:
    """How a TrainJob stands with its timeout."""

    look_again_after: timedelta | None = None
    report: str = ""
    """What to tell the job's author; empty if there is nothing to tell."""
    mark: str = ""
    """The text by which a report is known again; it goes into an annotation."""


def hang(job: Json, now: datetime) -> Watch:
    """Look at the last progress of a running TrainJob."""
    timeout = seconds(job, HANG_TIMEOUT, at_least=1).duration
    status = job.get("status") or {}
    progress = status.get("trainerStatus") or {}
    last = progress.get("lastUpdatedTime")
    is_held = bool((job.get("spec") or {}).get("suspend"))
    if timeout is None or not last or is_held or is_finished(conditions_of(job)):
        return Watch()
    left = time_left(timeout, [now - _running_since(job, moment(last))])
    if left > timedelta():
        return Watch(look_again_after=left)
    if annotation(job, HANG_REPORTED) == last:
        return Watch()
    silent = int((now - moment(last)).total_seconds())
    report = f"no progress for {silent} s; last progress {_progress_text(progress)}at {last}"
    return Watch(report=report, mark=last)


def _running_since(job: Json, last: datetime) -> datetime:
    """The last progress, or the resume after it: a suspended job cannot report."""
    suspended = find_condition(conditions_of(job), "Suspended")
    if suspended is None or not suspended.get("lastTransitionTime"):
        return last
    return max(last, moment(suspended["lastTransitionTime"]))


def _progress_text(progress: Json) -> str:
    parts = []
    if progress.get("progressPercentage") is not None:
        parts.append(f"{progress['progressPercentage']} %")
    metrics = (progress.get("metrics") or [])[:_METRICS_SHOWN]
    parts += [f"{metric.get('name')}={metric.get('value')}" for metric in metrics]
    return f"{', '.join(parts)} " if parts else ""
