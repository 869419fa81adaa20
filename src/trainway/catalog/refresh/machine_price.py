"""A line of a catalog that was made from a price list, and the file of such lines. Pure."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

HEADER: Final = (
    "InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs", "MemoryGiB", "Price",
    "SpotPrice", "Region", "AvailabilityZone",
)  # fmt: skip


@dataclass(frozen=True)
class MachineFacts:
    """What a price list may not say of a machine type; 0 and empty: nobody knows."""

    vcpus: float = 0
    memory_gib: float = 0
    accelerator: str = ""
    accelerator_count: float = 0


Known = Mapping[str, MachineFacts]
"""What is known already, by machine type."""


@dataclass(frozen=True)
class MachinePrice:
    """What a machine type costs in a region; None: not to be had that way."""

    instance_type: str
    facts: MachineFacts
    region: str
    price: float | None
    spot_price: float | None = None


def as_csv(found: Iterable[MachinePrice]) -> str:
    """A catalog file; lines are sorted, so that what has changed is seen in a comparison."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for each in sorted(found, key=lambda one: (one.instance_type, one.region)):
        facts = each.facts
        count = facts.accelerator_count if facts.accelerator else 0
        gpus = (facts.accelerator, _number(count))
        size = (_number(facts.vcpus), _number(facts.memory_gib))
        prices = (_number(each.price), _number(each.spot_price))
        writer.writerow((each.instance_type, *gpus, *size, *prices, each.region, ""))
    return text.getvalue()


def joined(found: Iterable[MachinePrice]) -> Iterator[MachinePrice]:
    """One line for what is to be had on demand and as spot, which price lists tell apart."""
    both: dict[tuple[str, str], MachinePrice] = {}
    for each in found:
        key = each.instance_type, each.region
        known = both.get(key, each)
        both[key] = MachinePrice(
            each.instance_type,
            each.facts,
            each.region,
            _least(known.price, each.price),
            _least(known.spot_price, each.spot_price),
        )
    yield from both.values()


def _least(one: float | None, other: float | None) -> float | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _number(value: float | None) -> str:
    return f"{value:.10g}" if value else ""
