"""What an hour of one node costs in a place, for a job that asks for so much. Pure.

The prices are those of `config.yaml`, whose form is in `catalog/own_prices.py`.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from trainway.backends.demand import Demand
from trainway.catalog.own_prices import Asked, place_price
from trainway.jobset.quantity import Quantity

_NANOS: Final = 10**9
_UNKNOWN: Final = Demand()


def asked_of(demand: Demand) -> Asked:
    """What a job asks for, as prices count it."""
    return Asked(demand.nodes, _number(demand.cpus), demand.gpus, demand.types)


def hourly_price(prices: Mapping[str, Any], place: str, demand: Demand) -> Decimal | None:
    """What an hour of the whole job costs there; None: nobody said."""
    price = place_price(prices, place)
    return None if price is None else price.hourly(asked_of(demand))


def price_of(prices: Mapping[str, Any], place: str, demand: Demand = _UNKNOWN) -> float | None:
    """What an hour of one of its nodes costs there; None: nobody said."""
    hourly = hourly_price(prices, place, demand)
    return None if hourly is None else float(hourly / max(demand.nodes, 1))


def _number(quantity: Quantity) -> Decimal:
    return Decimal(quantity.nanos) / _NANOS
