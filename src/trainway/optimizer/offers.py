"""What there is of an accelerator, for people who look before they ask for it."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from trainway.catalog.offer import Offer
from trainway.catalog.store import Catalog
from trainway.json_types import Json


@dataclass(frozen=True)
class AcceleratorOffer:
    """An offer with the accelerator that was asked for."""

    offer: Offer

    def to_dict(self) -> Json:
        """For programs."""
        machine = self.offer.machine
        return {
            "accelerator": machine.accelerator,
            "count": machine.accelerator_count,
            "cloud": machine.cloud,
            "instance_type": machine.name,
            "vcpus": machine.vcpus or None,
            "memory_gib": machine.memory_gib or None,
            "price": self.offer.price,
            "spot_price": self.offer.spot_price,
            "region": self.offer.region,
            "zone": self.offer.zone or None,
        }


def accelerators(catalog: Catalog, cloud: str | None = None) -> dict[str, list[float]]:
    """How many of each accelerator a machine has."""
    query = "SELECT DISTINCT accelerator, accelerator_count FROM machines WHERE accelerator != ''"
    values: list[Any] = []
    if cloud is not None:
        query += " AND cloud = ?"
        values.append(cloud.lower())
    found: dict[str, list[float]] = defaultdict(list)
    for name, count in catalog.rows(f"{query} ORDER BY accelerator_key, accelerator_count", values):
        found[name].append(count)
    return dict(found)


def accelerator_offers(
    catalog: Catalog, name: str, count: float | None, cloud: str | None, *, all_regions: bool
) -> list[AcceleratorOffer]:
    """The offers with an accelerator, cheapest first: the best of each machine type, or all."""
    query = "SELECT id FROM machines WHERE accelerator_key = ?"
    values: list[Any] = [name.lower()]
    for column, value in (("accelerator_count", count), ("cloud", cloud and cloud.lower())):
        if value is not None:
            query += f" AND {column} = ?"
            values.append(value)
    found: list[Offer] = []
    for (identity,) in catalog.rows(query, values):
        offers = sorted(catalog.offers(identity), key=_rank)
        found += offers if all_regions else offers[:1]
    return [AcceleratorOffer(offer) for offer in sorted(found, key=_rank)]


def _rank(offer: Offer) -> tuple[float, float, str, str, str, str]:
    price = float("inf") if offer.price is None else offer.price
    spot = float("inf") if offer.spot_price is None else offer.spot_price
    return price, spot, offer.machine.cloud, offer.machine.name, offer.region, offer.zone
