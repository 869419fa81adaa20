"""One place for each of several tasks, so that the last of them ends as early as can be. Pure.

A task begins when all that it waits for have ended and their data has arrived; within a region data
takes no time. Of plans that end equally early the cheapest counts. The search goes deep first and
leaves out what even at best would end later, or as early and cost more, than what it has found.
"""

import math
from collections.abc import Mapping, Sequence

from trainway.optimizer.labelling import Costs, Place

Ending = tuple[float, float]
"""When the last task ends, and what all of them cost."""


def earliest(
    costs: Sequence[Costs],
    hours: Sequence[float],
    order: Sequence[int],
    on_the_way: Mapping[tuple[int, int], float],
) -> list[Place]:
    """The places of all tasks; `order` has each behind those it waits for."""
    return _Search(costs, hours, order, on_the_way).run()


class _Search:
    def __init__(
        self,
        costs: Sequence[Costs],
        hours: Sequence[float],
        order: Sequence[int],
        on_the_way: Mapping[tuple[int, int], float],
    ) -> None:
        self._costs, self._hours, self._order = costs, hours, order
        self._before: list[list[tuple[int, float]]] = [[] for _ in costs]
        after: list[list[int]] = [[] for _ in costs]
        for (source, target), delay in on_the_way.items():
            self._before[target].append((source, delay))
            after[source].append(target)
        self._rest = [0.0] * len(costs)  # hours from a task's end to the end of all, at least
        for task in reversed(order):
            self._rest[task] = max(
                (hours[each] + self._rest[each] for each in after[task]), default=0
            )
        least = [min(each.values()) for each in costs]
        self._cost_left = [
            math.fsum(least[task] for task in order[position:])
            for position in range(len(order) + 1)
        ]
        self._best: Ending = (math.inf, math.inf)
        self._found: list[Place] = []

    def run(self) -> list[Place]:
        """Go through all that may be better than what is known."""
        self._place(0, [("", "")] * len(self._costs), [0.0] * len(self._costs), 0, 0)
        return self._found

    def _place(
        self, position: int, places: list[Place], ends: list[float], latest: float, spent: float
    ) -> None:
        if position == len(self._order):
            if (latest, spent) < self._best:
                self._best, self._found = (latest, spent), list(places)
            return
        task = self._order[position]
        for place, cost in self._options(task, places):
            begin = self._begin(task, place, places, ends)
            ends[task] = begin + self._hours[task]
            at_least = max(latest, ends[task] + self._rest[task])
            cost_at_least = spent + cost + self._cost_left[position + 1]
            if (at_least, cost_at_least) < self._best:
                places[task] = place
                self._place(position + 1, places, ends, at_least, spent + cost)

    def _begin(
        self, task: int, place: Place, places: Sequence[Place], ends: Sequence[float]
    ) -> float:
        return max(
            (
                ends[before] + (0 if places[before] == place else delay)
                for before, delay in self._before[task]
            ),
            default=0,
        )

    def _options(self, task: int, places: Sequence[Place]) -> list[tuple[Place, float]]:
        """Those where data is already first, and then the cheaper ones."""
        there = {places[before] for before, _ in self._before[task]}
        return sorted(self._costs[task].items(), key=lambda item: (item[0] not in there, item[1]))
