"""One place for each of several tasks, so that tasks and the data between them cost least. Pure.

Each task has a cost in each place, and each edge a cost that depends on whether its ends are in one
region, in one cloud, or in neither. So a region that is dearer than another of the same cloud for
every task can be left out, and of clouds that let data go for nothing a task needs only its
cheapest place. Where the edges make a forest, going once over it from the leaves and back gives the
least cost that each task can have in each place. Other graphs are first solved without some edges,
which can only be too cheap: a place with which even that costs more than a solution that is known
is left out too. What remains, little as a rule, is tried out task by task, so that the result is
exact for every graph.
"""

import math
import operator
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

Place = tuple[str, str]
"""A cloud and a region."""
Costs = Mapping[Place, float]

_NOISE: Final = 1e-9
"""Sums in another order differ by less."""
_LARGE: Final = 1e12
"""More than anything costs."""


@dataclass(frozen=True)
class Edge:
    """Data that goes from one task to another, and what that costs by the cloud it comes from."""

    source: int
    target: int
    between_regions: Mapping[str, float]
    out_of_cloud: Mapping[str, float]
    """Never less than between regions."""
    weight: float = 1

    def cost(self, source: Place, target: Place) -> float:
        """What it costs between two places."""
        if source == target:
            return 0
        prices = self.between_regions if source[0] == target[0] else self.out_of_cloud
        return prices.get(source[0], 0)


def cheapest(costs: Sequence[Costs], edges: Sequence[Edge]) -> list[Place]:
    """The places of all tasks; each must have one. Of equal ones the first of each task counts."""
    costs = _undominated(costs, edges)
    kept = _forest(len(costs), edges)
    marginals = _marginals(costs, kept)
    places = _picked(costs, kept, marginals)
    if len(kept) == len(edges):
        return places
    known = min(
        (_improved(start, costs, edges) for start in _starts(places, costs)),
        key=lambda found: total(found, costs, edges),
    )
    limit = total(known, costs, edges) + _NOISE
    domains = [
        [place for place, least in marginal.items() if least <= limit] for marginal in marginals
    ]
    return _eliminated(domains, costs, edges)


def total(places: Sequence[Place], costs: Sequence[Costs], edges: Iterable[Edge]) -> float:
    """What all of it costs."""
    tasks = math.fsum(each[place] for each, place in zip(costs, places, strict=True))
    return tasks + math.fsum(edge.cost(places[edge.source], places[edge.target]) for edge in edges)


def _undominated(costs: Sequence[Costs], edges: Sequence[Edge]) -> list[Costs]:
    """The places that a best solution may need."""
    clouds = {cloud for each in costs for cloud, _ in each}
    dear = {cloud for cloud in clouds if any(edge.out_of_cloud.get(cloud) for edge in edges)}
    wanted = {place for cloud in dear for place in _best_regions(cloud, costs)}
    kept: list[Costs] = []
    for each in costs:
        free = [place for place in each if place[0] not in dear]
        cheapest_free = _first_least({place: each[place] for place in free}) if free else None
        kept.append(
            {
                place: cost
                for place, cost in each.items()
                if place in wanted or place == cheapest_free
            }
        )
    return kept


def _best_regions(cloud: str, costs: Sequence[Costs]) -> list[Place]:
    """The regions of a cloud of which no other is as cheap for every task."""
    places = dict.fromkeys(place for each in costs for place in each if place[0] == cloud)
    spent = {place: [each.get(place, math.inf) for each in costs] for place in places}
    best: list[Place] = []
    for place in sorted(places, key=lambda each: sum(min(cost, _LARGE) for cost in spent[each])):
        mine = spent[place]
        if not any(all(map(operator.le, spent[other], mine)) for other in best):
            best.append(place)
    return best


def _forest(size: int, edges: Sequence[Edge]) -> list[Edge]:
    """Edges without a circle: those with the most data."""
    root = list(range(size))

    def top(task: int) -> int:
        while root[task] != task:
            task = root[task]
        return task

    kept = []
    for edge in sorted(edges, key=lambda each: -each.weight):
        first, second = top(edge.source), top(edge.target)
        if first != second:
            root[first] = second
            kept.append(edge)
    return kept


def _message(costs: Costs, edge: Edge, *, forward: bool, places: Iterable[Place]) -> Costs:
    """The least cost of one end of an edge, with the edge, for each place of the other end."""
    by_cloud: dict[str, float] = defaultdict(lambda: math.inf)
    for (cloud, _), cost in costs.items():
        by_cloud[cloud] = min(by_cloud[cloud], cost)
    out, between = edge.out_of_cloud, edge.between_regions
    anywhere = min(
        (cost + (out.get(cloud, 0) if forward else 0)) for cloud, cost in by_cloud.items()
    )
    least = {}
    for place in places:
        cloud = place[0]
        elsewhere = anywhere if forward else anywhere + out.get(cloud, 0)
        near = by_cloud[cloud] + between.get(cloud, 0) if cloud in by_cloud else math.inf
        least[place] = min(costs.get(place, math.inf), near, elsewhere)
    return least


def _neighbours(size: int, edges: Iterable[Edge]) -> list[list[tuple[int, Edge]]]:
    found: list[list[tuple[int, Edge]]] = [[] for _ in range(size)]
    for edge in edges:
        found[edge.source].append((edge.target, edge))
        found[edge.target].append((edge.source, edge))
    return found


def _order(size: int, around: Sequence[Sequence[tuple[int, Edge]]]) -> list[tuple[int, int]]:
    """Each task with the one it hangs on (-1: none), parents first."""
    order: list[tuple[int, int]] = []
    seen: set[int] = set()
    for start in range(size):
        waiting = [] if start in seen else [(start, -1)]
        seen.add(start)
        while waiting:
            task, parent = waiting.pop()
            order.append((task, parent))
            for other, _ in around[task]:
                if other not in seen:
                    seen.add(other)
                    waiting.append((other, task))
    return order


def _marginals(costs: Sequence[Costs], forest: Sequence[Edge]) -> list[dict[Place, float]]:
    """What the whole forest costs at least if a task is in a place, for each task and place."""
    size = len(costs)
    around = _neighbours(size, forest)
    order = _order(size, around)
    up = [dict(each) for each in costs]
    sent: dict[int, Costs] = {}
    edge_to = {(task, other): edge for task in range(size) for other, edge in around[task]}
    for task, parent in reversed(order):
        if parent >= 0:
            edge = edge_to[task, parent]
            sent[task] = _message(up[task], edge, forward=edge.source == task, places=costs[parent])
            for place, cost in sent[task].items():
                up[parent][place] += cost
    full = [dict(each) for each in up]
    for task, parent in order:
        if parent >= 0:
            edge = edge_to[task, parent]
            rest = {place: full[parent][place] - sent[task][place] for place in full[parent]}
            told = _message(rest, edge, forward=edge.source == parent, places=costs[task])
            for place, cost in told.items():
                full[task][place] += cost
    return _with_other_trees(full, order)


def _with_other_trees(
    full: list[dict[Place, float]], order: Sequence[tuple[int, int]]
) -> list[dict[Place, float]]:
    """Trees that do not hang together cost what they cost, wherever a task of another one is."""
    tree: dict[int, int] = {}
    for task, parent in order:
        tree[task] = task if parent < 0 else tree[parent]
    least = {root: min(full[root].values()) for root in set(tree.values())}
    everything = math.fsum(least.values())
    return [
        {place: cost + everything - least[tree[task]] for place, cost in each.items()}
        for task, each in enumerate(full)
    ]


def _picked(
    costs: Sequence[Costs], forest: Sequence[Edge], marginals: Sequence[Mapping[Place, float]]
) -> list[Place]:
    """The best places for the forest, each chosen beside the one its task hangs on."""
    size = len(costs)
    around = _neighbours(size, forest)
    order = _order(size, around)
    edge_to = {(task, other): edge for task in range(size) for other, edge in around[task]}
    below = _below(costs, order, edge_to)
    places: list[Place] = [("", "")] * size
    for task, parent in order:
        if parent < 0:
            places[task] = _first_least(marginals[task])
            continue
        edge, there = edge_to[task, parent], places[parent]
        if edge.source == task:
            beside = {here: cost + edge.cost(here, there) for here, cost in below[task].items()}
        else:
            beside = {here: cost + edge.cost(there, here) for here, cost in below[task].items()}
        places[task] = _first_least(beside)
    return places


def _below(
    costs: Sequence[Costs],
    order: Sequence[tuple[int, int]],
    edge_to: Mapping[tuple[int, int], Edge],
) -> list[dict[Place, float]]:
    """What a task and all that hangs on it costs at least, for each of its places."""
    up = [dict(each) for each in costs]
    for task, parent in reversed(order):
        if parent >= 0:
            edge = edge_to[task, parent]
            told = _message(up[task], edge, forward=edge.source == task, places=costs[parent])
            for place, cost in told.items():
                up[parent][place] += cost
    return up


def _first_least(costs: Costs) -> Place:
    least = min(costs.values()) + _NOISE
    return next(place for place, cost in costs.items() if cost <= least)


def _starts(places: list[Place], costs: Sequence[Costs]) -> Iterable[list[Place]]:
    """Solutions to begin with: that of the forest, and the best one in a single place."""
    yield places
    common = set(costs[0]).intersection(*costs[1:])
    if common:
        best = min(sorted(common), key=lambda place: math.fsum(each[place] for each in costs))
        yield [best] * len(costs)


def _improved(places: list[Place], costs: Sequence[Costs], edges: Sequence[Edge]) -> list[Place]:
    """The same, as long as moving a single task makes it cheaper."""
    around = _neighbours(len(costs), edges)
    places = list(places)
    moved = True
    while moved:
        moved = False
        for task, each in enumerate(costs):
            spent = {
                place: cost
                + math.fsum(
                    edge.cost(place, places[other])
                    if edge.source == task
                    else edge.cost(places[other], place)
                    for other, edge in around[task]
                )
                for place, cost in each.items()
            }
            best = min(spent, key=lambda place: spent[place])
            if spent[best] < spent[places[task]] - _NOISE:
                places[task], moved = best, True
    return places


@dataclass(frozen=True)
class _Table:
    """Costs that depend on the places of a few tasks."""

    tasks: tuple[int, ...]
    costs: Mapping[tuple[Place, ...], float]


def _eliminated(
    domains: Sequence[Sequence[Place]], costs: Sequence[Costs], edges: Sequence[Edge]
) -> list[Place]:
    """Try out all that is left: one task after the other is put into what its neighbours cost."""
    tables = [
        _Table((task,), {(place,): costs[task][place] for place in domains[task]})
        for task in range(len(costs))
    ]
    tables += [
        _Table(
            (edge.source, edge.target),
            {
                (first, second): edge.cost(first, second)
                for first in domains[edge.source]
                for second in domains[edge.target]
            },
        )
        for edge in edges
    ]
    steps: list[tuple[int, tuple[int, ...], dict[tuple[Place, ...], Place]]] = []
    left = set(range(len(costs)))
    while left:
        task = min(left, key=lambda each: (_size_without(each, tables, domains), each))
        left.discard(task)
        mine = [table for table in tables if task in table.tasks]
        tables = [table for table in tables if task not in table.tasks]
        others = tuple(sorted({other for table in mine for other in table.tasks} - {task}))
        table, choices = _without(task, others, mine, domains)
        tables.append(table)
        steps.append((task, others, choices))
    places: list[Place] = [("", "")] * len(costs)
    for task, others, choices in reversed(steps):
        places[task] = choices[tuple(places[other] for other in others)]
    return places


def _size_without(task: int, tables: Iterable[_Table], domains: Sequence[Sequence[Place]]) -> int:
    around = {other for table in tables if task in table.tasks for other in table.tasks}
    return math.prod(len(domains[other]) for other in around)


def _without(
    task: int,
    others: tuple[int, ...],
    tables: Sequence[_Table],
    domains: Sequence[Sequence[Place]],
) -> tuple[_Table, dict[tuple[Place, ...], Place]]:
    """The least cost of a task for each choice of its neighbours, and the place it has then."""
    costs, choices = {}, {}
    position = {other: index for index, other in enumerate((*others, task))}
    wanted = [(table.costs, [position[each] for each in table.tasks]) for table in tables]
    for around in product(*(domains[other] for other in others)):
        best, chosen = math.inf, domains[task][0]
        for place in domains[task]:
            all_places = (*around, place)
            cost = 0.0
            for known, indexes in wanted:
                cost += known[tuple([all_places[index] for index in indexes])]
            if cost < best - _NOISE:
                best, chosen = cost, place
        costs[around], choices[around] = best, chosen
    return _Table(others, costs), choices
