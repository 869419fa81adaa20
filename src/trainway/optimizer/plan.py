"""The choice for all tasks at once: the offers, what they cost together, and what else there was.

Of equal costs the order of `candidates` decides, and in a region the machine with most memory, then
CPUs, then by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from trainway.catalog.offer import Offer
from trainway.catalog.reservations import Reservation
from trainway.errors import NotFoundError
from trainway.optimizer import egress
from trainway.optimizer.candidates import SAME, candidates, of_all_nodes
from trainway.optimizer.finish import earliest
from trainway.optimizer.labelling import Edge, Place, cheapest
from trainway.optimizer.regions import HOME, part_of_the_world
from trainway.optimizer.request import Request, TaskRequest
from trainway.optimizer.search import RegionOffer, Search


class Objective(StrEnum):
    """What is to be least."""

    COST = "cost"
    TIME = "time"


@dataclass(frozen=True)
class Choice:
    """What a task gets."""

    name: str
    request: Request
    offer: Offer
    hours: float
    candidates: int
    """How many offers would have done."""
    reservation: Reservation | None = None
    """What it is taken out of; None: it is to be paid."""

    @property
    def node_price(self) -> float:
        """For one node."""
        if self.reservation is not None:
            return 0.0
        return self.offer.hourly(spot=self.request.spot) or 0.0

    @property
    def hourly_price(self) -> float:
        """For all nodes."""
        return round(self.node_price * self.request.nodes, SAME)


@dataclass(frozen=True)
class Plan:
    """What all tasks get, and what the data between them costs."""

    choices: Sequence[Choice]
    egress_cost: float

    @property
    def hourly_price(self) -> float:
        """Of all tasks together."""
        return round(sum(choice.hourly_price for choice in self.choices), SAME)

    @property
    def total_cost(self) -> float:
        """Of the hours of all tasks, with the data that goes from place to place."""
        spent = sum(choice.hourly_price * choice.hours for choice in self.choices)
        return round(spent + self.egress_cost, SAME)


def plan(
    search: Search,
    tasks: Sequence[TaskRequest],
    after: Mapping[str, Sequence[str]],
    *,
    objective: Objective = Objective.COST,
    near: str = HOME,
    is_group: bool = False,
) -> Plan:
    """The best offers for all tasks; NotFoundError names the first task that can have none.

    The tasks of a job group run side by side and talk to each other, so they are in one region.
    """
    differs = is_group or any(task.output_gb or task.inputs for task in tasks)
    found = [candidates(search, task, near, all_regions=differs) for task in tasks]
    regions = [each.regions for each in found]
    costs = [_costs(task, offers) for task, offers in zip(tasks, regions, strict=True)]
    edges = _edges(tasks, after, regions)
    if is_group:
        places = [_together(costs, near)] * len(tasks)
    elif objective is Objective.TIME:
        hours = [task.hours for task in tasks]
        places = earliest(costs, hours, _order(tasks, after), _on_the_way(tasks, after))
    else:
        places = cheapest(costs, [edge for edge in edges if edge.weight])
    choices = []
    for task, each, place in zip(tasks, found, places, strict=True):
        chosen = each.regions[place]
        offer = search.best(chosen)
        choices.append(
            Choice(
                *(task.name, chosen.request, offer, task.hours, each.offers),
                reservation=chosen.reservation,
            )
        )
    spent = sum(edge.cost(places[edge.source], places[edge.target]) for edge in edges)
    spent += sum(_input_cost(task, place) for task, place in zip(tasks, places, strict=True))
    return Plan(choices, round(spent, SAME))


def _together(costs: Sequence[Mapping[Place, float]], near: str) -> Place:
    """Where all tasks can be, and cost least together; ties as between offers of one task."""
    common = set(costs[0]).intersection(*costs[1:])
    if not common:
        raise NotFoundError(
            "no region has machines for all tasks of the job group, which run side by side",
            hint="trainway optimize with each task in a file of its own shows where it can be",
        )
    return min(common, key=lambda place: _rank(place, costs, near))


def _rank(
    place: Place, costs: Sequence[Mapping[Place, float]], near: str
) -> tuple[float, bool, str, str]:
    cost = round(sum(each[place] for each in costs), SAME)
    return cost, part_of_the_world(place[1]) != near, *place


def _costs(task: TaskRequest, regions: Mapping[Place, RegionOffer]) -> dict[Place, float]:
    return {
        place: of_all_nodes(offer) * task.hours + _input_cost(task, place)
        for place, offer in regions.items()
    }


def _input_cost(task: TaskRequest, place: Place) -> float:
    """What it costs to bring the task's own data to a place."""
    return sum(
        egress.out_of_cloud(cloud, gigabytes)
        for cloud, gigabytes in task.inputs.items()
        if cloud != place[0]
    )


def _edges(
    tasks: Sequence[TaskRequest],
    after: Mapping[str, Sequence[str]],
    found: Sequence[Mapping[Place, RegionOffer]],
) -> list[Edge]:
    edges = []
    for source, target in _pairs(tasks, after):
        gigabytes = tasks[source].output_gb
        clouds = {cloud for cloud, _ in found[source]}
        between = {cloud: egress.between_regions(cloud, gigabytes) for cloud in clouds}
        out = {cloud: egress.out_of_cloud(cloud, gigabytes) for cloud in clouds}
        edges.append(Edge(source, target, between, out, gigabytes))
    return edges


def _pairs(
    tasks: Sequence[TaskRequest], after: Mapping[str, Sequence[str]]
) -> list[tuple[int, int]]:
    index = {task.name: number for number, task in enumerate(tasks)}
    return [
        (index[before], number)
        for number, task in enumerate(tasks)
        for before in after.get(task.name, ())
    ]


def _order(tasks: Sequence[TaskRequest], after: Mapping[str, Sequence[str]]) -> list[int]:
    """The tasks in an order in which each comes behind those it waits for."""
    left, order = list(range(len(tasks))), list[int]()
    while left:
        done = {tasks[number].name for number in order}
        ready = next(number for number in left if set(after.get(tasks[number].name, ())) <= done)
        left.remove(ready)
        order.append(ready)
    return order


def _on_the_way(
    tasks: Sequence[TaskRequest], after: Mapping[str, Sequence[str]]
) -> dict[tuple[int, int], float]:
    """Hours that the data of each edge needs between two regions."""
    return {
        (source, target): egress.hours(tasks[source].output_gb)
        for source, target in _pairs(tasks, after)
    }
