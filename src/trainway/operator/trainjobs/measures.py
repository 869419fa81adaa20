"""What there is to measure in the life of a TrainJob, as a pure function of two looks at it.

Times are only measured where both ends were seen: after a restart of the operator a job that runs
already counts from then on.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from trainway.jobset.status import conditions_of, find_condition, moment
from trainway.json_types import Json
from trainway.operator.caches import all_ready

_COUNTED_EACH: Final = timedelta(minutes=5)


class Quantity(Enum):
    """What was measured."""

    RUNNING = "seconds from creation or resume until all pods are ready"
    GANG_WAIT = "seconds from the first active pod until all are ready"
    RESTARTS = "restarts of all pods that count towards maxRestarts"
    UNCOUNTED_RESTARTS = "restarts of all pods that do not"
    GPU_SECONDS = "seconds times GPUs"


@dataclass(frozen=True, slots=True)
class Measure:
    """One measured value."""

    quantity: Quantity
    value: float


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen at the last look."""

    begun: bool = False
    """Whether there was a look before this one."""
    active_since: datetime | None = None
    ready_since: datetime | None = None
    billed_until: datetime | None = None
    restarts: int = 0
    counted: int = 0
    """Those of the restarts that count towards `maxRestarts`."""


def measure(
    before: Observed, job: Json, jobset: Json | None, gpus: int, now: datetime
) -> tuple[Observed, list[Measure]]:
    """What to remember of this look, and what it shows."""
    status = (jobset or {}).get("status") or {}
    listed = status.get("replicatedJobsStatus") or []
    is_active = any(item.get("active", 0) for item in listed)
    is_ready = is_active and all_ready(listed)
    restarts = max(int(status.get("restarts") or 0), before.restarts)
    counted = max(int(status.get("restartsCountTowardsMax") or 0), before.counted)
    measures = []
    if before.begun and restarts > before.restarts:
        measures += _restarts(restarts - before.restarts, counted - before.counted)
    if gpus and before.billed_until is not None:
        held = (now - before.billed_until).total_seconds()
        measures.append(Measure(Quantity.GPU_SECONDS, max(held, 0.0) * gpus))
    active_since = (before.active_since or now) if is_active else None
    ready_since = (before.ready_since or now) if is_ready else None
    after = replace(
        before,
        begun=True,
        active_since=active_since,
        ready_since=ready_since,
        billed_until=now if ready_since else None,
        restarts=restarts,
        counted=counted,
    )
    if before.begun and ready_since and before.ready_since is None:
        measures.append(Measure(Quantity.RUNNING, _since(_started(job), now)))
        measures.append(Measure(Quantity.GANG_WAIT, _since(active_since or now, now)))
    return after, measures


def _restarts(all_: int, counted: int) -> list[Measure]:
    found = {Quantity.RESTARTS: counted, Quantity.UNCOUNTED_RESTARTS: all_ - counted}
    return [Measure(quantity, number) for quantity, number in found.items() if number > 0]


def next_measure(observed: Observed, gpus: int) -> timedelta | None:
    """When to look again at a job that holds GPUs, so that they are counted while it runs."""
    return _COUNTED_EACH if gpus and observed.billed_until is not None else None


def _started(job: Json) -> datetime:
    suspended = find_condition(conditions_of(job), "Suspended")
    if suspended is not None and suspended.get("lastTransitionTime"):
        return moment(suspended["lastTransitionTime"])
    return moment(job["metadata"]["creationTimestamp"])


def _since(begin: datetime, now: datetime) -> float:
    return max((now - begin).total_seconds(), 0.0)
