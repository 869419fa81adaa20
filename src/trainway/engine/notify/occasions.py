"""Which changes of a job somebody may want to hear of, and what is told of them. Pure."""

from typing import Final, NamedTuple

from trainway.engine.costs.budget import JobBudget, money
from trainway.engine.failure import is_retried
from trainway.engine.observation import CULPRIT, HANG, IDLE_GPU
from trainway.engine.phases import WAITING, Phase
from trainway.engine.record import JobRecord
from trainway.engine.view import job_view
from trainway.notify.message import Notice
from trainway.notify.targets import Occasion

_ENDS: Final = {Phase.SUCCEEDED: Occasion.SUCCEEDED, Phase.FAILED: Occasion.FAILED}
_DECIDED: Final = {Phase.RESTARTING, *_ENDS}
"""The phases that show what follows when a node has failed."""
_NOT_YET: Final = WAITING | {Phase.STARTING}


def occasions(before: JobRecord, after: JobRecord) -> list[Occasion]:
    """What has happened between two records of a job.

    A short job may be over when it is first seen to have run; it has started all the same.
    """
    found = [Occasion.IDLE_GPU] if idle_gpu(after) and not idle_gpu(before) else []
    ended = hang_end(after)
    if ended is not None and ended != hang_end(before):
        found.append(Occasion.HUNG)
    if after.budget and after.budget != before.budget and _warned(after):
        found.append(Occasion.BUDGET)
    if before.phase == after.phase:
        return found
    has_restarted = before.phase == Phase.RESTARTING or bool(after.restarts or after.attempt)
    if before.phase in _NOT_YET and after.started and not has_restarted:
        if after.phase == Phase.RUNNING or after.phase in _ENDS:
            found.append(Occasion.STARTED)
    elif after.phase == Phase.RUNNING and has_restarted:
        found.append(Occasion.RECOVERED)
    if after.phase in _ENDS:
        found.append(_ENDS[after.phase])
    return found


class HangEnd(NamedTuple):
    """What came of a node that was ended because it hung."""

    node: str
    since: str
    attempt: int
    message: str

    @property
    def detail(self) -> str:
        """Who hung since when, and where it was."""
        since = f", silent since {self.since}" if self.since else ""
        return f"{self.node}{since}: {self.message}"


def hang_end(record: JobRecord) -> HangEnd | None:
    """The last node that was ended because it hung; None: none, or what follows is not decided."""
    if f'"{HANG}"' not in record.observed:  # as below
        return None
    data = record.observed_data
    hang, culprit = data.get(HANG) or {}, data.get(CULPRIT) or {}
    attempt = hang.get("attempt")
    if not culprit.get("hung") or culprit["attempt"] != attempt:
        return None
    if record.phase not in _DECIDED and record.attempt == attempt and not is_retried(culprit):
        return None
    node, since = hang.get("node") or hang["pod"], hang.get("since") or ""
    return HangEnd(node, since, attempt, hang["message"])


def idle_gpu(record: JobRecord) -> str:
    """Which GPU of a job has done nothing for long; empty: none."""
    if f'"{IDLE_GPU}"' not in record.observed:  # most have none, and some are long
        return ""
    return str(record.observed_data.get(IDLE_GPU) or "")


def _warned(record: JobRecord) -> str:
    budget = JobBudget.of(record.budget)
    return "" if budget is None else budget.warned


def _little_left(record: JobRecord) -> str:
    budget = JobBudget.of(record.budget)
    return "" if budget is None else f"80 % of its budget of {money(budget.limit)} is spent"


def notice_of(record: JobRecord, occasion: Occasion, time: str) -> Notice:
    """What is told of a job."""
    shown = job_view(record, [])
    metadata, status = shown["metadata"], shown["status"]
    job = {
        "id": record.id,
        "name": record.name,
        "namespace": record.namespace,
        "backend": record.backend,
        "labels": metadata["labels"],
        **{name: status[name] for name in ("phase", "reason", "message", "startTime")},
        **{name: status[name] for name in ("completionTime", "restarts", "exitCode")},
    }
    if occasion == Occasion.BUDGET:
        return Notice(str(occasion), time, job, _little_left(record))
    if occasion == Occasion.IDLE_GPU:
        return Notice(str(occasion), time, job, idle_gpu(record))
    ended = hang_end(record) if occasion == Occasion.HUNG else None
    if ended is not None:
        outcome = "failed" if record.phase == Phase.FAILED else "was restarted"
        job["hang"] = {"node": ended.node, "since": ended.since, "outcome": outcome}
        return Notice(str(occasion), time, job, ended.detail)
    failure = status.get("failure") or {}
    return Notice(str(occasion), time, job, failure.get("summary") or record.message)
