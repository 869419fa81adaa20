"""The queue of a cluster: what of its nodes is free, and why a job does not get it. Pure.

The rule by which jobs start is in `controllers/gang_queue.py`. Unlike elsewhere a job that asks for
nothing waits for its turn too, since a cluster's jobs run in the order in which they came; and one
that is too large for the cluster is not refused but waits, and says so.
"""

from __future__ import annotations

from trainway.agent.base.counting import counted
from trainway.agent.controllers import gang_queue
from trainway.agent.controllers.gang_queue import DOES_NOT_FIT, QUEUED, start, wait
from trainway.agent.pool.allocation import fill, never_fits, requested
from trainway.agent.pool.placement import place, place_anyway, shortage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from trainway.agent.controllers.gang_queue import Decisions, Verdict
    from trainway.agent.pool.allocation import Allocation
    from trainway.agent.pool.placement import Placement, Room


class NodeRoom:
    """What is free on the nodes of a cluster while a decision is made."""

    def __init__(self, allocation: Allocation, rooms: Sequence[Room]) -> None:
        self._allocation = allocation
        self._rooms = [room.copy() for room in rooms]

    def hopeless(self, gang: Any) -> Verdict | None:
        """One that would not fit on the empty cluster waits, and holds back nobody."""
        if gang.oversubscribe or not never_fits(gang.demand, self._allocation):
            return None
        each = requested(self._allocation.amounts)
        why = shortage(gang.demand, self._allocation.rooms(), empty=True)
        message = f"{why}; the cluster has {counted(self._allocation.nodes, 'node')} of {each}"
        return wait(DOES_NOT_FIT, message, holds_back=False)

    def is_exempt(self, gang: Any) -> bool:
        """Whether it takes more than there is if need be."""
        return bool(gang.oversubscribe)

    def judge(self, gang: Any) -> Verdict:
        """On which nodes it goes, or what is short."""
        placement = place(gang.demand, self._rooms)
        if placement is None and gang.oversubscribe:
            placement = place_anyway(gang.demand, self._rooms)
        if placement is not None:
            return start(placement)
        return wait(QUEUED, shortage(gang.demand, self._rooms))

    def take(self, gang: Any, placement: Placement) -> None:
        """So much less is free for those behind it."""
        fill(self._rooms, gang.demand, placement)

    def name(self, _gang: Any) -> str:
        """Nobody is named, as in a pool."""
        return ""


def decide(gangs: Iterable[Any], allocation: Allocation, rooms: Sequence[Room]) -> Decisions:
    """Find nodes for as many as fit, in order; the rooms stay as they are."""
    return gang_queue.decide(gangs, NodeRoom(allocation, rooms))
