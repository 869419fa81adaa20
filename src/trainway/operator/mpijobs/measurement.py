"""What the change of an MPIJob's status is worth to the metrics."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trainway.jobset.status import find_condition, find_true, moment
from trainway.json_types import Json

_ENDS = ("Succeeded", "Failed")
_PHASES = ("Succeeded", "Failed", "Suspended", "Running", "Created")


@dataclass(frozen=True, slots=True)
class Measurement:
    """What happened between two states."""

    created: bool = False
    finished: str = ""
    """The condition that ended the job."""
    time_to_running: float | None = None
    gang_wait: float | None = None
    """From the first pod's start to the moment when all ran."""
    ran: float = 0.0
    """Seconds since the job began to run, where it has just stopped."""
    restarts: int = 0
    """How often the launcher was started again, and with it the whole program."""


def measure(
    created: str, old: Json, new: Json, pod_starts: Iterable[str], now: datetime
) -> Measurement:
    """Compare two states; `created` is when the job was, `pod_starts` when its pods started."""
    before, after = old.get("conditions") or [], new.get("conditions") or []
    ended = next((end for end in _ENDS if find_true(after, end)), "")
    began = find_true(after, "Running") and not find_true(before, "Running")
    first = find_condition(before, "Running") is None
    starts = [_seconds_since(start, now) for start in pod_starts] if began else []
    former = find_true(before, "Running")
    stopped = former is not None and not find_true(after, "Running")
    return Measurement(
        created=not before,
        finished=ended if ended and not any(find_true(before, end) for end in _ENDS) else "",
        time_to_running=_seconds_since(created, now) if began and first else None,
        gang_wait=max(starts, default=None),
        ran=_seconds_since(former["lastTransitionTime"], now) if former and stopped else 0.0,
        restarts=max(_restarts(new) - _restarts(old), 0),
    )


def phase_of(obj: dict[str, Any]) -> str:
    """One word for how a job stands."""
    conditions = (obj.get("status") or {}).get("conditions") or []
    return next((phase for phase in _PHASES if find_true(conditions, phase)), "Pending")


def _restarts(status: Json) -> int:
    """Launchers that failed and were followed by another: all, or all but the last."""
    replicas = status.get("replicaStatuses") or {}
    failed = int((replicas.get("Launcher") or {}).get("failed") or 0)
    is_over = find_true(status.get("conditions") or [], "Failed") is not None
    return max(failed - is_over, 0)


def _seconds_since(time: str, now: datetime) -> float:
    return max((now - moment(time)).total_seconds(), 0.0)
