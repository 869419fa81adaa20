"""Microsoft's retail prices: pages of JSON that anybody may ask for.

The form is that of the Azure Retail Prices API as its documentation describes it. It says nothing
of CPUs and memory: what is known of a machine type already counts, and else the CPUs in its name.
Pure, but for the pages that it is given.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from trainway.catalog.refresh.machine_price import Known, MachineFacts, MachinePrice, joined
from trainway.errors import UnreadableError

REGIONS: Final = ("eastus", "eastus2", "westus2", "westus3", "westeurope", "northeurope")
NEXT: Final = "NextPageLink"
_NAME: Final = re.compile(r"Standard_[A-Z]+(\d+)[-a-z0-9]*(?:_([A-Z]+\d+[A-Z]*))?", re.ASCII)
_CPUS_OF_GPUS: Final = {"T4": 4, "A10": 36, "A100": 24, "H100": 40}
"""How many CPUs there are for each GPU in series that name it; `Standard_NC24ads_A100_v4`."""
_EIGHT: Final = {
    "Standard_ND96asr_v4": "A100",
    "Standard_ND96amsr_A100_v4": "A100-80GB",
    "Standard_ND96isr_H100_v5": "H100",
    "Standard_ND96isr_H200_v5": "H200",
}
"""Machines with eight GPUs."""


def url(region: str) -> str:
    """The first page of a region."""
    wanted = "serviceName eq 'Virtual Machines' and priceType eq 'Consumption'"
    there = quote(f"{wanted} and armRegionName eq '{region}'")
    return f"https://prices.azure.com/api/retail/prices?$filter={there}"


def prices(pages: Iterable[Mapping[str, Any]], known: Known) -> Iterator[MachinePrice]:
    """The Linux machines of all pages, on demand and as spot."""
    return joined(found for page in pages for found in _page(page, known))


def _page(page: Mapping[str, Any], known: Known) -> Iterator[MachinePrice]:
    items = page.get("Items")
    if not isinstance(items, list):
        raise UnreadableError(
            "the retail prices have no Items",
            hint="Microsoft may have changed its form; use --from with a catalog file.",
        )
    for item in items:
        name, price = str(item.get("armSkuName") or ""), float(item.get("retailPrice") or 0)
        words = f"{item.get('productName')} {item.get('skuName')}"
        is_hourly = item.get("unitOfMeasure") == "1 Hour" and item.get("currencyCode") == "USD"
        if not name or price <= 0 or not is_hourly or "Windows" in words or "Low Priority" in words:
            continue
        is_spot = "Spot" in words
        amounts = (None, price) if is_spot else (price, None)
        facts = known.get(name) or _guessed(name)
        yield MachinePrice(name, facts, str(item.get("armRegionName") or ""), *amounts)


def _guessed(name: str) -> MachineFacts:
    """What a name says of its machine."""
    found = _NAME.match(name)
    cpus = float(found[1]) if found else 0.0
    if name in _EIGHT:
        return MachineFacts(cpus, 0, _EIGHT[name], 8)
    gpu = (found[2] or "") if found else ""
    if gpu not in _CPUS_OF_GPUS or cpus < _CPUS_OF_GPUS[gpu]:
        return MachineFacts(cpus)
    count = min(int(cpus // _CPUS_OF_GPUS[gpu]), 4)
    return MachineFacts(cpus, 0, "A100-80GB" if gpu == "A100" else gpu, count)
