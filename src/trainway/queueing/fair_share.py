"""The order of the managed queue: priority, then the share of queues and of users, then arrival.

The share of a queue is what its jobs used, by its weight; usage decays, so that what was long ago
counts little. A job that runs, and one that is put into the order, counts as if it ran for an
hour. So the queues take turns in the order too, and not only one after the other.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from trainway.queueing.amounts import Amounts
from trainway.queueing.snapshot import Snapshot, WaitingGang, cost_of

HALF_LIFE_S: Final = 7 * 24 * 3600
"""After that time usage counts half."""
_AHEAD_S: Final = 3600.0


def decayed(usage: float, age_s: float) -> float:
    """What usage of so long ago counts now."""
    return usage * math.exp2(-max(age_s, 0.0) / HALF_LIFE_S)


_arrival: Final = attrgetter("order")
_owed: Final = attrgetter("owed")


class FairShare:
    """How much each queue and user have had.

    All of it is in floats, which sort fastest, and jobs are sorted as their numbers by arrival.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._queues, self._running = snapshot.queues, snapshot.running
        self._by_queue = {queue: float(used) for queue, used in snapshot.used.by_queue.items()}
        self._by_user: defaultdict[str, dict[str, float]] = defaultdict(dict)
        """By queue, and in it by user."""
        self._costs: dict[int, float] = {}
        """By request: many jobs ask for the same."""
        for (queue, user), usage in snapshot.used.by_user.items():
            self._by_user[queue][user] = float(usage)
        for (queue, user), cost_of_all in snapshot.tally.costs.items():
            cost, users = cost_of_all * _AHEAD_S, self._by_user[queue]
            self._by_queue[queue] = self._by_queue.get(queue, 0.0) + cost
            users[user] = users.get(user, 0.0) + cost

    def in_order(self, gangs: Iterable[WaitingGang]) -> list[WaitingGang]:
        """Whose turn comes first; those come before their equals for whom room is being made.

        Of these the first are those whose room is there, so that nobody else gets it, and the last
        whom it was made for: one before may have lost its own to a job of higher priority.
        """
        levels: defaultdict[int, list[WaitingGang]] = defaultdict(list)
        owed: defaultdict[int, list[WaitingGang]] = defaultdict(list)
        for gang in sorted(gangs, key=_arrival):
            (levels if gang.owed is None else owed)[gang.priority].append(gang)
        awaited = {gang.leaves_for for gang in self._running} if owed else set()
        ordered: list[WaitingGang] = []
        for priority in sorted(levels.keys() | owed.keys(), reverse=True):
            known = sorted(owed.get(priority, ()), key=_owed, reverse=True)
            ordered += sorted(known, key=lambda gang: gang.id in awaited)
            ordered += self._level(levels.get(priority, []))
        return ordered

    def _level(self, gangs: list[WaitingGang]) -> list[WaitingGang]:
        """Those of one priority, who are given by arrival.

        Who comes next is always of the queue with the smallest share, and in it of the user with
        the smallest. A share only grows, so that is the order of the shares at which each one's
        turn comes, and sorting finds it. Of equal shares the first to arrive comes first.
        """
        lines: dict[str, tuple[list[int], dict[str, float]]] = {}
        """By queue: the numbers of those who are in it, and the shares of its users."""
        shares: list[float] = []
        costs: list[float] = []
        known = self._costs
        for number, gang in enumerate(gangs):
            queue, user = gang.queue, gang.user
            cost = known.get(id(gang.request)) or self._cost(gang.request)
            found = lines.get(queue)
            if found is None:
                found = lines[queue] = [], self._by_user[queue]
            line, users = found
            line.append(number)
            share = users.get(user, 0.0)
            users[user] = share + cost
            shares.append(share)
            costs.append(cost)
        for queue, (line, _) in lines.items():
            line.sort(key=shares.__getitem__)
            self._take_turns(queue, line, costs, shares)
        return [gangs[number] for number in sorted(range(len(gangs)), key=shares.__getitem__)]

    def _cost(self, request: Amounts) -> float:
        cost = self._costs[id(request)] = cost_of(request) * _AHEAD_S
        return cost

    def _take_turns(
        self, queue: str, line: list[int], costs: list[float], shares: list[float]
    ) -> None:
        """Put in place of the share of each one's user that of its queue when its turn comes."""
        policy = self._queues.get(queue)
        weight = policy.weight if policy else 1
        used = self._by_queue.get(queue, 0.0)
        for number in line:
            shares[number] = used / weight
            used += costs[number]
        self._by_queue[queue] = used
