"""SkyPilot's catalog files: a CSV for each cloud, whose columns differ a little. Pure.

A row without a region is no offer, and a price that is 0 or missing is none. Nor is a row that
names neither an instance type nor an accelerator. Empty lines, as editors leave them, are nothing.
"""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trainway.catalog.gpu_memory import accelerator_gib
from trainway.errors import UnreadableError

_REQUIRED: Final = ("InstanceType", "vCPUs", "MemoryGiB", "Price", "Region")
_YES: Final = ("true", "supported", "required", "1", "1.0")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a file; an empty `instance_type` is an accelerator without its host."""

    instance_type: str
    vcpus: float
    memory_gib: float
    accelerator: str
    accelerator_count: float
    accelerator_gib: float
    region: str
    zone: str
    price: float | None
    spot_price: float | None
    local_disk_gb: float = 0
    """0: the file does not say."""
    local_disk_kind: str = ""
    fast_network: bool = False


def rows(lines: Iterable[str], name: str) -> Iterator[Row]:
    """The offers of a file; an UnreadableError names the line that cannot be read."""
    reader = csv.reader(lines)
    try:
        header = [cell.strip("\ufeff ") for cell in next(reader, [])]
    except csv.Error as error:
        raise _unreadable(name, reader.line_num, error) from error
    missing = [column for column in _REQUIRED if column not in header]
    if missing:
        raise UnreadableError(
            f"{name}: it has no column {missing[0]}",
            hint="A catalog has SkyPilot's columns: InstanceType, vCPUs, MemoryGiB, Price, Region"
            " and others.",
        )
    places = {column: header.index(column) for column in header}
    memories: dict[tuple[str, str], float] = {}
    try:
        for cells in reader:
            row = _row(cells, places, memories) if cells else None
            if row is not None:
                yield row
    except IndexError as error:
        short = f"it has fewer than the {len(header)} cells of the header"
        raise _unreadable(name, reader.line_num, short) from error
    except (ValueError, csv.Error) as error:
        raise _unreadable(name, reader.line_num, error) from error


def _unreadable(name: str, line: int, why: object) -> UnreadableError:
    return UnreadableError(
        f"{name}: line {line} cannot be read: {why}",
        hint="Mend that line, or fetch the file anew.",
    )


def _row(
    cells: list[str], places: Mapping[str, int], memories: dict[tuple[str, str], float]
) -> Row | None:
    def cell(column: str) -> str:
        place = places.get(column)
        return "" if place is None else cells[place]

    price, spot_price = _price(cell("Price")), _price(cell("SpotPrice"))
    region = cell("Region")
    if not region or (price is None and spot_price is None):
        return None
    accelerator = cell("AcceleratorName")
    if not (accelerator or cell("InstanceType")):
        return None
    info = (accelerator, cell("GpuInfo"))
    if accelerator and info not in memories:
        memories[info] = accelerator_gib(*info)
    return Row(
        cell("InstanceType"),
        _number(cell("vCPUs")),
        _number(cell("MemoryGiB")),
        accelerator,
        _number(cell("AcceleratorCount")) if accelerator else 0,
        memories[info] if accelerator else 0,
        region,
        cell("AvailabilityZone"),
        price,
        spot_price,
        *_local_disk(cell),
        _number(cell("MaximumEfaInterfaces")) > 0,
    )


def _local_disk(cell: Callable[[str], str]) -> tuple[float, str]:
    """All disks inside of a machine together, and what they are."""
    gigabytes = _number(cell("LocalDiskSize")) * max(_number(cell("LocalDiskCount")), 1)
    if not gigabytes:
        return 0, ""
    if cell("NVMeSupported").lower() in _YES:
        return gigabytes, "nvme"
    return gigabytes, cell("LocalDiskType").lower()


def _number(text: str) -> float:
    number = float(text) if text else 0.0
    return number if math.isfinite(number) else 0.0


def _price(text: str) -> float | None:
    number = _number(text)
    return number if number > 0 else None
