"""A job as the managed queue sees it, by its record as it is stored. Pure.

Amounts are whole numbers, and jobs that ask for the same share one object, which makes decisions
about thousands of them quick. A GPU that a job was given is a resource of its own beside the number
of GPUs: a job that was suspended needs those again, and not any others.
"""

import itertools
import json
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from trainway.backends.base import Capacity, Devices
from trainway.backends.demand import Demand, with_nodes
from trainway.engine.queue import held_devices, names_of
from trainway.engine.queue_entry import demand_of
from trainway.engine.queues.making_room import read_making_room
from trainway.engine.queues.node_limit import is_giving, node_limit
from trainway.engine.record import JobRecord
from trainway.engine.wishes import SUSPEND
from trainway.jobset.labels import USER
from trainway.jobset.status import moment
from trainway.queueing.amounts import CPU, GPU, MEMORY, Amounts, gpu_of
from trainway.queueing.elastic_nodes import less, together
from trainway.queueing.snapshot import RunningGang, WaitingGang

_THOUSAND: Final = 1000
_DEVICE: Final = "device:"
_USUAL_GRACE_S: Final = 30
"""How long pods have to end where nobody says otherwise."""
_FINE: Final = 1000
"""Jobs that start in the same second are told apart, too: the youngest makes room."""


def amounts_of(demand: Demand, devices: Devices | None = None) -> dict[str, int]:
    """What a gang needs, with the devices that it must have or has."""
    amounts = {
        CPU: (demand.cpus * _THOUSAND).ceil(),
        MEMORY: demand.memory.ceil(),
        GPU: demand.gpus,
    }
    held = held_devices(demand, devices or {})
    named = {f"{_DEVICE}{name}": 1 for name in names_of(held)}
    named |= {gpu_of(kind): count for kind, count in demand.types.items()}
    return {name: amount for name, amount in (amounts | named).items() if amount}


def amounts_in(capacity: Capacity) -> dict[str, int]:
    """What there is on a machine."""
    return {
        CPU: (capacity.cpus * _THOUSAND).ceil(),
        MEMORY: capacity.memory.ceil(),
        GPU: len(capacity.gpus),
        **{f"{_DEVICE}{name}": 1 for name in capacity.gpus},
    }


@lru_cache(20_000)
def request_of(demand: str, devices: str) -> Amounts:
    """What a job needs, as its record has it; the same object for the same."""
    return amounts_of(demand_of(demand), json.loads(devices) if devices else None)


@lru_cache(20_000)
def user_of(labels: str) -> str:
    """Who has submitted a job; empty: nobody knows."""
    return str(json.loads(labels).get(USER) or "") if USER in labels else ""


@lru_cache(20_000)
def seconds(time: str) -> float:
    """A time of a record, since the epoch."""
    return moment(time).timestamp()


def limit_of(record: JobRecord, grace_s: int) -> int | None:
    """The longest that it holds what it has once it runs; None: nobody knows."""
    if record.deadline_seconds is None:
        return None
    return record.deadline_seconds + max(grace_s, _USUAL_GRACE_S)


def waiting_gang(
    record: JobRecord,
    lane: str,
    grace_s: int,
    *,
    is_setup: bool = False,
) -> WaitingGang:
    """The job as one that waits for a place.

    One that sets up a worker is in no queue: jobs of one may wait for it.
    """
    made = read_making_room(record.making_room)
    return WaitingGang(
        record.id,
        request_of(record.demand, record.devices),
        lane,
        "" if is_setup else record.queue,
        user_of(record.labels),
        record.priority,
        made.order if made and made.order else record.id,
        limit_of(record, grace_s),
        record.name,
    )


def running_gang(
    record: JobRecord, lane: str, grace_s: int, begin: float | None, *, can_leave: bool
) -> RunningGang:
    """The job as one that holds its place, since `begin` or not quite yet.

    `can_leave`: its backend can suspend it.
    """
    made = read_making_room(record.making_room)
    limit = limit_of(record, grace_s)
    return RunningGang(
        record.id,
        request_of(record.demand, record.devices),
        lane,
        record.queue,
        user_of(record.labels),
        record.priority,
        int((begin or seconds(record.created)) * _FINE),
        None if limit is None or begin is None else int(begin) + limit,
        record.name,
        can_leave and record.wanted == "",
        made.job if made and record.wanted == SUSPEND else "",
    )


@lru_cache(20_000)
def _nodes_of(demand: str, devices: str, first: int, end: int) -> tuple[Amounts, ...]:
    """What each node of an elastic job has, from one number down to another."""
    whole, given = demand_of(demand), json.loads(devices) if devices else None
    sizes = [amounts_of(with_nodes(whole, nodes), given) for nodes in range(first, end - 1, -1)]
    return tuple(less(more, [fewer]) for more, fewer in itertools.pairwise(sizes))


def with_spare(gang: RunningGang, record: JobRecord, *, may_give: bool) -> list[RunningGang]:
    """An elastic job with the nodes that it could give up; those that it gives up are apart."""
    demand, limit = demand_of(record.demand), node_limit(record)
    elastic = demand.elastic
    if elastic is None:
        return [gang]
    if limit is None or not is_giving(record, demand):
        if not may_give:
            return [gang]
        spare = _nodes_of(record.demand, record.devices, elastic.nodes, elastic.least)
        return [replace(gang, spare=spare)]
    nodes = _nodes_of(record.demand, record.devices, elastic.nodes, limit.most)
    leaving = together(replace(gang, spare=nodes), len(nodes))
    rest = replace(gang, request=less(gang.request, nodes))
    return [rest, replace(leaving, id=f"{gang.id}/nodes", leaves_for=limit.job)]


def lacking_nodes(record: JobRecord) -> tuple[Amounts, ...]:
    """What an elastic job would need for each node more, up to all; empty: it has all."""
    elastic = demand_of(record.demand).elastic
    if elastic is None or node_limit(record) is None:
        return ()
    return _nodes_of(record.demand, record.devices, elastic.most, elastic.nodes)[::-1]


def owed_to(records: Iterable[JobRecord]) -> dict[str, str]:
    """The jobs for which others make room, or have made it and wait now or do with fewer nodes.

    With each is the time at which the last of these was told to.
    """
    owed: dict[str, str] = {}
    for record in records:
        if record.making_room and (made := read_making_room(record.making_room)):
            owed[made.job] = max(made.time, owed.get(made.job, ""))
        if record.node_limit and (limit := node_limit(record)) and limit.job:
            owed[limit.job] = max(limit.time, owed.get(limit.job, ""))
    return owed
