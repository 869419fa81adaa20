"""Where a task can be had, and for how much: the best offer of each region, in the stated order.

Of equal prices a region in the part of the world that `near` names comes first, then the name of
the cloud counts, then that of the region. What was reserved is paid for already: it costs nothing,
and of several the first in `config.yaml` counts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from trainway.errors import NotFoundError
from trainway.optimizer.explanation import why_nothing
from trainway.optimizer.labelling import Place
from trainway.optimizer.regions import part_of_the_world
from trainway.optimizer.request import Request, TaskRequest
from trainway.optimizer.search import RegionOffer, Search

SAME: Final = 9
"""Costs that agree in so many decimal places are equal."""


@dataclass(frozen=True)
class Candidates:
    """What a task may have."""

    regions: Mapping[Place, RegionOffer]
    """Cheapest first."""
    offers: int
    """How many offers there are in all."""


def of_all_nodes(offer: RegionOffer) -> float:
    """What an hour of all nodes costs."""
    return round(offer.hourly * offer.request.nodes, SAME)


def candidates(search: Search, task: TaskRequest, near: str, *, all_regions: bool) -> Candidates:
    """The offers for a task; NotFoundError says why there are none.

    Without `all_regions` those that are cheapest will do: nothing else makes regions differ.
    """
    best: dict[Place, RegionOffer] = {}
    count = 0
    for request in task.requests:
        found, offers = _of_request(search, request, all_regions=all_regions)
        reserved = search.reserved(request)
        count += offers + len(reserved)
        for offer in (*reserved, *found):
            known = best.get(offer.place)
            if known is None or of_all_nodes(offer) < of_all_nodes(known):
                best[offer.place] = offer
        if best and task.is_ordered:
            break
    if not best:
        raise NotFoundError(
            f"task {task.name}: no offer of the catalog fits:"
            f" {why_nothing(search, task.requests[0])}",
            hint="`trainway gpus list` shows what there is.",
        )
    return Candidates(dict(_ranked(best.values(), near)), count)


def _of_request(
    search: Search, request: Request, *, all_regions: bool
) -> tuple[list[RegionOffer], int]:
    lowest = None if all_regions else search.lowest(request)
    if lowest is not None:
        return lowest
    found = search.regions(request)
    return found, sum(each.offers for each in found)


def _ranked(offers: Iterable[RegionOffer], near: str) -> list[tuple[Place, RegionOffer]]:
    def rank(offer: RegionOffer) -> tuple[float, bool, str, str]:
        is_far = part_of_the_world(offer.region) != near
        return of_all_nodes(offer), is_far, offer.cloud, offer.region

    return [(offer.place, offer) for offer in sorted(offers, key=rank)]
