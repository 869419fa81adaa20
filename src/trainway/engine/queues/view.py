"""A managed queue as the API shows it. Pure."""

from collections.abc import Sequence
from typing import Final

from trainway.engine.queue import Waiting
from trainway.engine.queues.gangs import request_of, user_of
from trainway.engine.record import JobRecord
from trainway.json_types import Json
from trainway.queueing.amounts import JOBS, add
from trainway.queueing.queue_object import API_VERSION, KIND, spec_of, written
from trainway.queueing.queue_policy import QueuePolicy

_HOUR_S: Final = 3600
_DIGITS: Final = 3
MOST_JOBS: Final = 1000
"""How many of those who wait are told."""


def queue_view(
    policy: QueuePolicy,
    created: str,
    running: Sequence[JobRecord],
    waiting: int,
    gpu_seconds: int,
    jobs: Sequence[JobRecord] | None,
    places: Waiting,
) -> Json:
    """The queue; with those who wait, in their order, where they are given."""
    used: dict[str, int] = {JOBS: len(running)}
    for record in running:
        add(used, request_of(record.demand, ""))
    shown = used.keys() | policy.quota.keys()
    status: Json = {
        "state": str(policy.state),
        "running": len(running),
        "waiting": waiting,
        "used": {name: written(name, used.get(name, 0)) for name in sorted(shown)},
        "gpuHoursUsed": round(gpu_seconds / _HOUR_S, _DIGITS),
    }
    if jobs is not None:
        views = [_waiting_view(record, places.position(record.id)) for record in jobs]
        views.sort(key=lambda view: (view["position"] is None, view["position"] or 0, view["id"]))
        status["jobs"] = views[:MOST_JOBS]
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": policy.name, "creationTimestamp": created or None},
        "spec": spec_of(policy),
        "status": status,
    }


def _waiting_view(record: JobRecord, position: int | None) -> Json:
    return {
        "id": record.id,
        "name": record.name,
        "position": position,
        "priority": record.priority,
        "user": user_of(record.labels),
        "backend": record.backend,
        "phase": record.phase,
        "reason": record.reason,
        "message": record.message,
        "creationTimestamp": record.created,
    }
