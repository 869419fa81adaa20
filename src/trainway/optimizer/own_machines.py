"""Own machines beside those of clouds: what a task would cost there, by the prices we were told.

Nobody knows here whether there is room; `trainway plan` asks. Where a task wants an accelerator,
only places count whose prices name it. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from trainway.api.task.infra import Infra
from trainway.catalog.own_prices import Asked, PlacePrice, amount, place_price
from trainway.optimizer.request import Request

_FAMILIES: Final = {"k8s": "kubernetes"}
"""Families that tasks call otherwise than `config.yaml`."""


@dataclass(frozen=True)
class OwnOffer:
    """What a task would cost in a place of ours."""

    place: str
    hourly: Decimal
    """Of one node."""
    request: Request


def own_offers(requests: Sequence[Request], prices: Mapping[str, Any]) -> list[OwnOffer]:
    """The cheapest of each place that may have what a task asks for, cheapest first."""
    best: dict[str, OwnOffer] = {}
    for place in prices:
        price = place_price(prices, place)
        for request in requests:
            if price is None or not _may_have(place, price, request):
                continue
            offer = OwnOffer(place, price.hourly(_asked(request)), request)
            if _is_wanted(offer) and (place not in best or _cost(offer) < _cost(best[place])):
                best[place] = offer
    return sorted(best.values(), key=lambda each: (_cost(each), each.place))


def _may_have(place: str, price: PlacePrice, request: Request) -> bool:
    if request.instance_type is not None or not _is_there(place, request.infra):
        return False
    accelerator = request.accelerator
    return accelerator is None or accelerator.name.lower() in price.gpus


def _is_there(place: str, infra: Infra) -> bool:
    """Whether a place may be meant; the price of a whole family holds for each place of it."""
    if infra.cloud is None:
        return infra == Infra()
    family, _, name = place.partition("/")
    if _FAMILIES.get(family, family) != infra.cloud:
        return False
    named = "/".join(part for part in (infra.region, infra.zone) if part)
    return not name or not named or name == named or named.startswith(f"{name}/")


def _asked(request: Request) -> Asked:
    """What one node has."""
    cpus = request.cpus
    number = Decimal(0) if cpus is None or cpus.per_cpu else amount(cpus.value)
    if request.accelerator is None:
        return Asked(1, number)
    count = -int(-request.accelerator.count // 1)
    return Asked(1, number, count, {request.accelerator.name: count})


def _is_wanted(offer: OwnOffer) -> bool:
    most = offer.request.max_hourly_cost
    return most is None or offer.hourly <= amount(most)


def _cost(offer: OwnOffer) -> Decimal:
    return offer.hourly * offer.request.nodes
