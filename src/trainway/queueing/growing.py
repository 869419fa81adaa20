"""Which elastic jobs get back nodes that they gave up: when there is room, and nobody waits for it.

A node more is nothing that anybody should wait for, so it is given only where no job waits for the
same place or the same quota. Pure.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trainway.queueing.amounts import JOBS, Amounts, fits, subtract
from trainway.queueing.queue_policy import QueuePolicy, QueueState
from trainway.queueing.quota import Quotas
from trainway.queueing.snapshot import RunningGang, WaitingGang


@dataclass(frozen=True)
class Lack:
    """The nodes that an elastic job would take."""

    gang: RunningGang
    nodes: Sequence[Amounts]
    """What each of them needs, in the order in which it would get them."""


def growths(
    lacks: Iterable[Lack],
    free: Callable[[str], Amounts | None],
    quotas: Quotas,
    queues: Mapping[str, QueuePolicy],
    waiting: Iterable[WaitingGang],
) -> dict[str, int]:
    """How many nodes each job gets; those of the highest priority first, then the oldest."""
    blocked = set()
    for one in waiting:
        blocked |= {("lane", one.lane), ("queue", one.queue), ("cohort", _cohort(queues, one))}
    rooms: dict[str, dict[str, int] | None] = {}
    found: dict[str, int] = {}
    for lack in sorted(lacks, key=lambda lack: (-lack.gang.priority, lack.gang.started)):
        gang, policy = lack.gang, queues.get(lack.gang.queue)
        wants = {("lane", gang.lane), ("queue", gang.queue)}
        if policy is None or policy.state is QueueState.PAUSED or wants & blocked:
            continue
        if policy.cohort and ("cohort", policy.cohort) in blocked:
            continue
        if gang.lane not in rooms:
            there = free(gang.lane)
            rooms[gang.lane] = None if there is None else dict(there)
        count = _fitting(lack, policy, quotas, rooms[gang.lane])
        if count:
            found[gang.id] = count
    return found


def _fitting(lack: Lack, policy: QueuePolicy, quotas: Quotas, room: dict[str, int] | None) -> int:
    """How many of the nodes fit; they are counted as taken."""
    gang, count = lack.gang, 0
    for node in lack.nodes:
        as_job = WaitingGang(gang.id, node, gang.lane, gang.queue)
        short = [item for item in quotas.lacks(as_job, policy) if item.resource != JOBS]
        if short or (room is not None and not fits(node, room)):
            break
        quotas.count(gang.queue, node, jobs=0)
        if room is not None:
            subtract(room, node)
        count += 1
    return count


def _cohort(queues: Mapping[str, QueuePolicy], gang: WaitingGang) -> str:
    policy = queues.get(gang.queue)
    return policy.cohort if policy else ""
