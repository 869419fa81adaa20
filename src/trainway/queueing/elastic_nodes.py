"""The nodes that an elastic job can give up: what preemption takes before it suspends any job.

A job above its minimum is seen as several that leave one by one: each node that it can spare, in
the order in which it gives them up, and what is left then. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from trainway.queueing.amounts import Amounts, add, subtract
from trainway.queueing.snapshot import RunningGang


def parts(gang: RunningGang) -> list[RunningGang]:
    """The nodes that a job can spare, one by one; none, if it is not elastic."""
    return [replace(gang, request=node, spare=(), gives=1) for node in gang.spare]


def together(gang: RunningGang, count: int) -> RunningGang:
    """The first so many of them, as one that leaves."""
    request: dict[str, int] = {}
    for node in gang.spare[:count]:
        add(request, node)
    return replace(gang, request=request, spare=(), gives=count)


def without(gang: RunningGang, count: int) -> RunningGang:
    """What is left of a job that has given up so many."""
    if not count:
        return gang
    return replace(gang, request=less(gang.request, gang.spare[:count]), spare=gang.spare[count:])


def less(request: Amounts, nodes: Iterable[Amounts]) -> Amounts:
    """A request without some nodes."""
    left = dict(request)
    for node in nodes:
        subtract(left, node)
    return {name: amount for name, amount in left.items() if amount}


class Taking:
    """Who leaves so that there is room, step by step."""

    def __init__(self, gangs: Sequence[RunningGang]) -> None:
        self._gangs = gangs
        self.nodes: dict[str, int] = {}
        """How many nodes were taken of each."""

    def steps(self) -> Iterable[RunningGang]:
        """Those who may be asked, the nodes of all before any whole job."""
        for gang in self._gangs:
            if not gang.spare:
                continue  # as most
            for number, part in enumerate(parts(gang)):
                if self.nodes.get(gang.id, 0) < number:
                    break  # they go one after the other, and one of them stays
                yield part
        for gang in self._gangs:
            yield without(gang, self.nodes.get(gang.id, 0))

    def take(self, one: RunningGang) -> None:
        """It leaves."""
        if one.gives:
            self.nodes[one.id] = self.nodes.get(one.id, 0) + 1

    @staticmethod
    def may_stay(one: RunningGang, needed: Iterable[RunningGang]) -> bool:
        """Whether it could: a node not where a later one or the whole job has to leave."""
        return not one.gives or all(other.id != one.id for other in needed)

    def victims(self, needed: Iterable[RunningGang]) -> list[RunningGang]:
        """The jobs that make room, with all that they have or with some nodes."""
        counts: dict[str, int] = {}
        whole = set()
        for one in needed:
            if one.gives:
                counts[one.id] = counts.get(one.id, 0) + 1
            else:
                whole.add(one.id)
        found = []
        for gang in self._gangs:
            if gang.id in whole:
                found.append(gang)
            elif gang.id in counts:
                found.append(together(gang, counts[gang.id]))
        return found
