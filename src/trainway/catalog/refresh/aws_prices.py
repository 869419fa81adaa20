"""Amazon's price list: one file for each region, which is read line by line since it is large.

The form is that of the AWS Price List Bulk API as its documentation describes it: five lines about
the file, a header, and a line for each product and term. Spot prices are not in it. Pure, but for
the lines that it is given.
"""

import csv
from collections.abc import Iterable, Iterator
from itertools import dropwhile
from typing import Final

from trainway.catalog.refresh.machine_price import MachineFacts, MachinePrice
from trainway.errors import UnreadableError

REGIONS: Final = ("us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1")
"""Those that are fetched where none is named."""
_FIRST: Final = "SKU"
_WANTED: Final = {
    "TermType": "OnDemand",
    "Unit": "Hrs",
    "Currency": "USD",
    "Operating System": "Linux",
    "Pre Installed S/W": "NA",
    "Tenancy": "Shared",
    "CapacityStatus": "Used",
}
_GPUS: Final = {
    "p2": "K80", "p3": "V100", "p3dn": "V100-32GB", "p4d": "A100", "p4de": "A100-80GB",
    "p5": "H100", "p5e": "H200", "p5en": "H200", "p6-b200": "B200", "g4dn": "T4", "g5": "A10G",
    "g5g": "T4g", "g6": "L4", "g6e": "L40S", "gr6": "L4",
}  # fmt: skip
"""The GPUs of each family of machines; the list has only their number."""


def url(region: str) -> str:
    """Where the list of a region is."""
    base = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current"
    return f"{base}/{region}/index.csv"


def prices(lines: Iterable[str], region: str) -> Iterator[MachinePrice]:
    """The Linux machines of a region, on demand."""
    body = dropwhile(lambda line: not line.lstrip('"').startswith(_FIRST), lines)
    reader = csv.reader(body)
    header = next(reader, [])
    places = {name: index for index, name in enumerate(header)}
    missing = [name for name in (*_WANTED, "Instance Type", "PricePerUnit") if name not in places]
    if missing:
        raise UnreadableError(
            f"the price list of {region} has no column {missing[0]!r}",
            hint="Amazon may have changed its form; use --from with a catalog file.",
        )
    for cells in reader:
        if len(cells) == len(header) and _is_wanted(cells, places):
            found = _price({name: cells[place] for name, place in places.items()}, region)
            if found is not None:
                yield found


def _is_wanted(cells: list[str], places: dict[str, int]) -> bool:
    return all(cells[places[name]] == value for name, value in _WANTED.items())


def _price(row: dict[str, str], region: str) -> MachinePrice | None:
    name, price = row["Instance Type"], float(row["PricePerUnit"] or 0)
    if "." not in name or price <= 0:
        return None
    accelerator = _GPUS.get(name.partition(".")[0], "")
    count = _amount(row.get("GPU", "")) if accelerator else 0
    facts = MachineFacts(
        _amount(row.get("vCPU", "")),
        _amount(row.get("Memory", "")),
        accelerator if count else "",
        count,
    )
    return MachinePrice(name, facts, row.get("Region Code") or region, price)


def _amount(text: str) -> float:
    """The number in `1,152 GiB`; 0 where there is none."""
    try:
        return float(text.split(maxsplit=1)[0].replace(",", "")) if text.strip() else 0.0
    except ValueError:
        return 0.0
