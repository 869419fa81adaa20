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
    )


def phase_of(obj: dict[str, Any]) -> str:
    """One word for how a job stands."""
    conditions = (obj.get("status") or {}).get("conditions") or []
    return next((phase for phase in _PHASES if find_true(conditions, phase)), "Pending")


def launcher_restarts(status: Json) -> int | None:
    """How often the launcher was started again, and with it the whole program.

    None: a launcher has failed, and it is open whether another one follows.
    """
    conditions = status.get("conditions") or []
    launcher = (status.get("replicaStatuses") or {}).get("Launcher") or {}
    failed = int(launcher.get("failed") or 0)
    if find_true(conditions, "Failed"):
        return max(failed - 1, 0)
    is_settled = not failed or launcher.get("active") or find_true(conditions, "Succeeded")
    return failed if is_settled else None


def _seconds_since(time: str, now: datetime) -> float:
    return max((now - moment(time)).total_seconds(), 0.0)
