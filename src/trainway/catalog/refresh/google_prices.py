"""Google's price list: prices of cores, memory and GPUs, of which those of machines are added up.

The form is that of the Cloud Billing Catalog API as its documentation describes it; it needs an API
key. Only machine types are priced of which the size is known already, since the list has none.
Pure, but for the pages that it is given.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from trainway.catalog.refresh.machine_price import Known, MachineFacts, MachinePrice
from trainway.errors import UnreadableError

NEXT: Final = "nextPageToken"
_COMPUTE_ENGINE: Final = "6F81-5844-456A"
_PART: Final = re.compile(
    r"(?:Spot Preemptible |Preemptible )?(?P<family>[A-Z]\d[A-Z]?)(?: Predefined)? Instance"
    r" (?P<part>Core|Ram) running in .*"
)
_GPU: Final = re.compile(
    r"(?:Spot Preemptible |Preemptible )?(?:Nvidia|NVIDIA) (?:Tesla )?(?P<name>[A-Z]\d+)"
    r"(?: (?P<size>80GB))? GPU(?: attached .*| running in .*)?"
)
_NAMES: Final = {"A100-80GB": "A100-80GB", "H100-80GB": "H100"}


@dataclass(frozen=True)
class _Key:
    """What a price is of."""

    part: str
    """A family of machines with `Core` or `Ram`, or a GPU."""
    region: str
    is_spot: bool


def url(key: str, page: str = "") -> str:
    """Where the list is; `page` is what the page before said."""
    query = {"key": key, "pageSize": "5000", "currencyCode": "USD"}
    query |= {"pageToken": page} if page else {}
    base = f"https://cloudbilling.googleapis.com/v1/services/{_COMPUTE_ENGINE}/skus"
    return f"{base}?{urlencode(query)}"


def prices(pages: Iterable[Mapping[str, Any]], known: Known) -> Iterator[MachinePrice]:
    """The machines that are known, wherever all parts of them have a price."""
    parts: dict[_Key, float] = {}
    for page in pages:
        if not isinstance(page.get("skus"), list):
            raise UnreadableError(
                "the price list has no skus",
                hint="Google may have changed its form; use --from with a catalog file.",
            )
        for sku in page["skus"]:
            parts |= dict(_parts(sku))
    regions = sorted({key.region for key in parts})
    for name, facts in sorted(known.items()):
        for region in regions:
            price, spot = (_sum(parts, name, facts, region, is_spot) for is_spot in (False, True))
            if price is not None or spot is not None:
                yield MachinePrice(name, facts, region, price, spot)


def _parts(sku: Mapping[str, Any]) -> Iterator[tuple[_Key, float]]:
    category = sku.get("category") or {}
    usage = category.get("usageType")
    part = _part(str(sku.get("description") or ""))
    if category.get("resourceFamily") != "Compute" or usage not in ("OnDemand", "Preemptible"):
        return
    price = _unit_price(sku)
    if part and price:
        for region in sku.get("serviceRegions") or ():
            yield _Key(part, str(region), usage == "Preemptible"), price


def _part(description: str) -> str:
    if found := _PART.fullmatch(description):
        return f"{found['family'].lower()} {found['part']}"
    if found := _GPU.fullmatch(description):
        name = f"{found['name']}-{found['size']}" if found["size"] else found["name"]
        return _NAMES.get(name, name)
    return ""


def _unit_price(sku: Mapping[str, Any]) -> float:
    """The price of the last tier, which is that of use beyond what is free."""
    infos = sku.get("pricingInfo") or [{}]
    rates = (infos[-1].get("pricingExpression") or {}).get("tieredRates") or [{}]
    unit = rates[-1].get("unitPrice") or {}
    return float(unit.get("units") or 0) + float(unit.get("nanos") or 0) / 1e9


def _sum(
    parts: Mapping[_Key, float], name: str, facts: MachineFacts, region: str, is_spot: bool
) -> float | None:
    """What a machine costs in a region; None: a part of it has no price there."""
    family = name.partition("-")[0]
    wanted = [(f"{family} Core", facts.vcpus), (f"{family} Ram", facts.memory_gib)]
    wanted += [(facts.accelerator, facts.accelerator_count)] if facts.accelerator else []
    found = [(parts.get(_Key(part, region, is_spot)), count) for part, count in wanted]
    if any(price is None for price, _ in found):
        return None
    return sum((price or 0) * count for price, count in found)
