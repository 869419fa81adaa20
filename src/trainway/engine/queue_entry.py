"""A job as the queue of its machine sees it, by its record as it is stored. Pure.

The queue knows no records and no phases: whoever waits is a gang, and whoever runs a holding. What
it decides becomes changes of records here.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache

from trainway.backends.base import Devices
from trainway.backends.demand import Demand
from trainway.engine.phases import LIVE, Phase
from trainway.engine.queue import Holding, QueuedGang, held_devices
from trainway.engine.queues import making_room
from trainway.engine.record import JobRecord
from trainway.engine.stored_job import Change
from trainway.engine.wishes import BEGIN_SUSPENDED


@lru_cache(10_000)
def demand_of(text: str) -> Demand:
    """What a job needs, as its record has it."""
    return Demand.from_dict(json.loads(text))


@lru_cache(10_000)
def devices_of(text: str) -> Devices:
    """The devices that a job was given, as its record has them."""
    devices: Devices = json.loads(text) if text else {}
    return devices


def queued_gang(record: JobRecord) -> QueuedGang:
    """The job as one that waits, with the devices it had if it has run before."""
    demand = demand_of(record.demand)
    return QueuedGang(
        record.id,
        demand,
        record.priority,
        record.oversubscribe,
        held_devices(demand, devices_of(record.devices)),
        record.name,
        _release(record),
    )


def held_by(record: JobRecord) -> Holding | None:
    """What the job holds; nothing while it waits or is suspended."""
    if record.phase not in LIVE or record.wanted == BEGIN_SUSPENDED:
        return None
    demand = demand_of(record.demand)
    devices = held_devices(demand, devices_of(record.devices))
    return Holding(demand, devices, record.name, _release(record))


def told_to_wait(
    records: Mapping[str, JobRecord],
    waiting: Mapping[str, str],
    inadmissible: Mapping[str, str],
    reasons: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, Change]]:
    """What jobs are told that do not start now, by their ids; whoever knows it already is not."""
    reasons = reasons or {}
    told = [(job_id, Phase.QUEUED, why) for job_id, why in waiting.items()]
    told += [
        (job_id, Phase.INADMISSIBLE, f"it needs {why}") for job_id, why in inadmissible.items()
    ]
    for job_id, phase, why in told:
        record = records[job_id]
        reason, message = making_room.told(record, reasons.get(job_id, ""), why)
        if (record.phase, record.reason, record.message) != (phase, reason, message):
            yield job_id, Change({"phase": phase, "reason": reason, "message": message})


def _release(record: JobRecord) -> str:
    """The command that ends it."""
    return f"trainway jobs cancel {record.id}"
