"""The order of the managed queue: priority, then the share of queues and of users, then arrival.

The share of a queue is what its jobs used, by its weight; usage decays, so that what was long ago
counts little. A job that runs, and one that is put into the order, counts as if it ran for an
hour. So the queues take turns in the order too, and not only one after the other.
"""

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heapreplace
from operator import attrgetter
from typing import Final

from trainway.queueing.amounts import JOBS
from trainway.queueing.queue_policy import QueuePolicy
from trainway.queueing.snapshot import Snapshot, WaitingGang, cost_of

HALF_LIFE_S: Final = 7 * 24 * 3600
"""After that time usage counts half."""
_AHEAD_S: Final = 3600
_SCALE: Final = 1 << 20
"""Keeps shares whole numbers when they are divided by weights."""


def decayed(usage: float, age_s: float) -> float:
    """What usage of so long ago counts now."""
    return usage * math.exp2(-max(age_s, 0.0) / HALF_LIFE_S)


_arrival: Final = attrgetter("order", "id")


class FairShare:
    """How much each queue and user have had."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._queues, self._running = snapshot.queues, snapshot.running
        self._by_queue = dict(snapshot.used.by_queue)
        self._by_user = dict(snapshot.used.by_user)
        for owner, amounts in snapshot.tally.amounts.items():
            cost = cost_of(amounts, amounts[JOBS]) * _AHEAD_S
            self._by_queue[owner[0]] = self._by_queue.get(owner[0], 0) + cost
            self._by_user[owner] = self._by_user.get(owner, 0) + cost

    def in_order(self, gangs: Iterable[WaitingGang]) -> list[WaitingGang]:
        """Whose turn comes first; those come before their equals for whom room is being made.

        Of these the first are those whose room is there, so that nobody else gets it.
        """
        levels: defaultdict[int, list[WaitingGang]] = defaultdict(list)
        owed: defaultdict[int, list[WaitingGang]] = defaultdict(list)
        for gang in gangs:
            (owed if gang.is_owed else levels)[gang.priority].append(gang)
        awaited = {gang.leaves_for for gang in self._running} if owed else set()
        ordered: list[WaitingGang] = []
        for priority in sorted(levels.keys() | owed.keys(), reverse=True):
            known = owed.get(priority, ())
            ordered += sorted(known, key=lambda gang: (gang.id in awaited, *_arrival(gang)))
            ordered += self._level(levels.get(priority, []))
        return ordered

    def _level(self, gangs: list[WaitingGang]) -> list[WaitingGang]:
        """Those of one priority."""
        gangs.sort(key=_arrival)
        queues: dict[str, _Turns] = {}
        for gang in gangs:
            turns = queues.get(gang.queue)
            if turns is None:
                turns = queues[gang.queue] = _Turns(gang.queue, self._by_user)
            line = turns.lines.get(gang.user)
            if line is None:
                line = turns.line(gang.user)
            line.append(gang)
        for turns in queues.values():
            heapify(turns.heap)
        if len(queues) == 1:
            (name, turns), *_ = queues.items()
            cost = sum(cost_of(gang.request) for gang in gangs) * _AHEAD_S
            self._by_queue[name] = self._by_queue.get(name, 0) + cost
            return turns.all()
        heap = []
        for name, turns in queues.items():
            weight = _weight(self._queues, name)
            heap.append((self._by_queue.get(name, 0) * _SCALE // weight, name, weight, turns))
        heapify(heap)
        ordered: list[WaitingGang] = []
        while heap:
            share, name, weight, turns = heap[0]
            gang, cost = turns.next()
            ordered.append(gang)
            share += cost * _SCALE // weight
            if turns.heap:
                heapreplace(heap, (share, name, weight, turns))
            else:
                self._by_queue[name] = share * weight // _SCALE
                heappop(heap)
        return ordered


class _Turns:
    """The users of one queue, who take turns."""

    __slots__ = ("_by_user", "_queue", "heap", "lines")

    def __init__(self, queue: str, by_user: dict[tuple[str, str], int]) -> None:
        self._queue, self._by_user = queue, by_user
        self.lines: dict[str, deque[WaitingGang]] = {}
        self.heap: list[tuple[int, str]] = []

    def line(self, user: str) -> deque[WaitingGang]:
        """The jobs of one more user."""
        line = self.lines[user] = deque()
        self.heap.append((self._by_user.get((self._queue, user), 0), user))
        return line

    def next(self) -> tuple[WaitingGang, int]:
        """Whose turn it is, and what that costs."""
        share, user = self.heap[0]
        line = self.lines[user]
        gang = line.popleft()
        cost = cost_of(gang.request) * _AHEAD_S
        share += cost
        if line:
            heapreplace(self.heap, (share, user))
        else:
            self._by_user[self._queue, user] = share
            heappop(self.heap)
        return gang, cost

    def all(self) -> list[WaitingGang]:
        """The rest, in order."""
        if len(self.lines) == 1:
            return list(next(iter(self.lines.values())))
        ordered = []
        while self.heap:
            ordered.append(self.next()[0])
        return ordered


def _weight(queues: Mapping[str, QueuePolicy], name: str) -> int:
    policy = queues.get(name)
    return policy.weight if policy else 1
