"""What a decision about room changes in the records of jobs that run.

A job makes room as a whole, or gives up some of its nodes, if it is elastic; and gets them back.
"""

from datetime import datetime

from trainway.counting import counted
from trainway.engine.live import LiveJob
from trainway.engine.queue_entry import demand_of
from trainway.engine.queues.making_room import PREEMPTING, leaving
from trainway.engine.queues.node_limit import GROWING, grown, limited
from trainway.engine.stored_job import Change
from trainway.engine.times import time_text
from trainway.queueing.queue_policy import Eviction
from trainway.queueing.snapshot import RunningGang, WaitingGang


def told_to_leave(
    live: LiveJob, victim: RunningGang, gang: WaitingGang, eviction: Eviction, now: datetime
) -> Change:
    """What tells a job to make room for another one, or to give up some nodes."""
    whom = f"{gang.name} ({gang.id})"
    elastic = demand_of(live.record.demand).elastic
    if victim.gives and elastic is not None:
        said = f"it gives up {counted(victim.gives, 'node')} for {whom}"
        columns = limited(elastic.nodes - victim.gives, gang.id, gang.name, time_text(now))
        return Change(columns, [live.event(PREEMPTING, said)])
    columns = leaving(gang.id, gang.name, eviction, now)
    return Change(columns, [live.event(PREEMPTING, f"it makes room for {whom}")])


def growing(live: LiveJob, count: int) -> Change:
    """What gives an elastic job back nodes that it gave up."""
    demand = demand_of(live.record.demand)
    nodes = demand.elastic.nodes if demand.elastic is not None else 0
    said = f"there is room for {counted(count, 'node')} more"
    return Change(grown(demand, nodes + count), [live.event(GROWING, said)])
