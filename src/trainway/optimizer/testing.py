"""A small catalog for tests, and what somebody finds in it who looks at every single offer."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from trainway.catalog.csv_format import Row
from trainway.catalog.local_disks import local_disk
from trainway.catalog.offer import MachineType, Trait
from trainway.catalog.reservations import Reservation
from trainway.catalog.store import Catalog, compile_catalog
from trainway.catalog.traits import has_fast_network, is_opt_in, traits
from trainway.optimizer.cloud_limits import reason_against
from trainway.optimizer.request import Block, Request
from trainway.optimizer.rules import Rule, Rules


def row(  # noqa: PLR0913 - a line of a file has that many cells
    name: str,
    price: float | None,
    *,
    region: str = "us-east-1",
    zone: str = "",
    spot: float | None = None,
    vcpus: float = 8,
    memory: float = 32,
    accelerator: str = "",
    count: float = 0,
    gib: float = 0,
    disk: tuple[float, str] = (0, ""),
    fast: bool = False,
) -> Row:
    """One line of a catalog."""
    return Row(
        *(name, vcpus, memory, accelerator, count, gib, region, zone, price, spot), *disk, fast
    )


def catalog_of(folder: Path, clouds: Mapping[str, Sequence[Row]]) -> Catalog:
    """A catalog of these lines."""
    compile_catalog(folder / "catalog.sqlite", clouds)
    return Catalog(folder / "catalog.sqlite")


@dataclass(frozen=True, slots=True)
class _Line:
    """A place where a machine type is offered."""

    region: str
    zone: str
    is_opt_in: bool
    prices: tuple[float | None, float | None]
    """On demand, and as spot."""


class Lines:
    """The lines of all clouds; a Google GPU is already with its host.

    What depends on the machine type only is asked once for each type: the catalogs have 116,000
    lines and 4,000 types.
    """

    def __init__(self, clouds: Mapping[str, Sequence[Row]]) -> None:
        self.count = sum(map(len, clouds.values()))
        self._lines: dict[str, dict[MachineType, list[_Line]]] = defaultdict(dict)
        self._on_x86 = set[str]()
        for cloud, rows in clouds.items():
            for each in rows:
                machine, key = machine_of(cloud, each), each.accelerator.lower()
                prices = (each.price, each.spot_price)
                line = _Line(each.region, each.zone, is_opt_in(cloud, each.region), prices)
                self._lines[key].setdefault(machine, []).append(line)
                if Trait.ARM not in machine.traits:
                    self._on_x86.add(key)

    def lowest(
        self,
        request: Request,
        blocks: Sequence[Block] = (),
        rules: Rules | None = None,
        reservations: Sequence[Reservation] = (),
    ) -> float | None:
        """The lowest price, found by looking at every line; None: nothing fits."""
        held = Rules() if rules is None else rules
        if any(self._is_reserved(each, request, blocks, held) for each in reservations):
            return 0.0
        lowest: float | None = None
        for machine, lines in self._with_accelerator(request):
            if not self._is_wanted(machine, request, held):
                continue
            for line in lines:
                price = line.prices[request.spot]
                if (
                    price is not None
                    and (lowest is None or price < lowest)
                    and _is_place_wanted(line, request, held)
                    and not any(
                        _is_blocked(machine, line, request, block)
                        for block in blocks
                        if block.reservation is None
                    )
                ):
                    lowest = price
        most = request.max_hourly_cost
        return None if lowest is None or (most is not None and lowest > most) else lowest

    def _is_reserved(
        self, reserved: Reservation, request: Request, blocks: Sequence[Block], rules: Rules
    ) -> bool:
        """Whether what was reserved has all nodes of a request, and nothing is against it."""
        where = _Line(reserved.region, reserved.zone, False, (0.0, None))
        if request.spot or request.nodes > reserved.count:
            return False
        named = replace(request, max_hourly_cost=None)
        for machine, lines in self._with_accelerator(request):
            if (machine.cloud, machine.name) == (reserved.cloud, reserved.instance_type):
                here = [each for each in lines if each.region == reserved.region]
                if (
                    any(each.prices[0] is not None for each in here)
                    and self._is_wanted(machine, named, rules)
                    and _is_place_wanted(where, request, rules)
                    and not any(
                        _is_blocked(machine, where, request, each)
                        for each in blocks
                        if each.reservation in {None, reserved.id}
                    )
                ):
                    return True
        return False

    def _with_accelerator(self, request: Request) -> Iterable[tuple[MachineType, list[_Line]]]:
        """All machines with the accelerator, or all of them where none is named."""
        if request.instance_type is not None or request.accelerator_gib is not None:
            return chain.from_iterable(each.items() for each in self._lines.values())
        named = request.accelerator.name.lower() if request.accelerator else ""
        return self._lines[named].items()

    def _is_wanted(self, machine: MachineType, request: Request, rules: Rules) -> bool:
        if request.infra.cloud not in {None, machine.cloud}:
            return False
        if not _is_large_enough(machine, request) or not _can_do(machine, request):
            return False
        if request.instance_type is not None:
            return True
        unwanted = machine.traits.intersection(rules.traits())
        return not unwanted or (unwanted == {Trait.ARM} and self._only_on_arm(request))

    def _only_on_arm(self, request: Request) -> bool:
        wanted = request.accelerator
        if wanted is None or request.accelerator_gib is not None:
            return False
        return wanted.name.lower() not in self._on_x86


def machine_of(cloud: str, each: Row) -> MachineType:
    """The machine type of a line."""
    name = each.instance_type
    known = (each.local_disk_gb, each.local_disk_kind)
    disk, kind = known if each.local_disk_gb else local_disk(cloud, name)
    return MachineType(
        cloud, name, each.vcpus, each.memory_gib, each.accelerator,
        each.accelerator_count, each.accelerator_gib, traits(cloud, name, each.accelerator),
        disk, kind, each.fast_network or has_fast_network(cloud, name),
    )  # fmt: skip


def _can_do(machine: MachineType, request: Request) -> bool:
    """Whether a machine can have what is asked for beside its size."""
    disk, cloud, name = request.local_disk, machine.cloud, machine.name
    if disk is not None:
        here, size = machine.local_disk_gb, disk.size
        if not here or (disk.kind == "nvme" and machine.local_disk_kind != "nvme"):
            return False
        if disk.kind == "ssd" and machine.local_disk_kind not in ("ssd", "nvme"):
            return False
        if size is not None and (here < size.value or (here > size.value and not size.at_least)):
            return False
    if request.fast_network and not machine.fast_network:
        return False
    if request.disk_tier == "ultra" and cloud == "gcp":
        is_large = name.startswith("n2-") and machine.vcpus >= 64
        if not (is_large or name.startswith(("m1-", "m2-", "m3-"))):
            return False
    if request.disk_tier == "high" and cloud == "azure":
        forms = r"Standard_.*[0-9].*s.*", r"Standard_[DFGL]S[0-9].*"
        if not any(re.fullmatch(form, name) for form in forms):
            return False
    return reason_against(cloud, request) is None


def _is_large_enough(machine: MachineType, request: Request) -> bool:
    if request.instance_type not in {None, machine.name}:
        return False
    wanted, by_memory = request.accelerator, request.accelerator_gib
    if wanted is None:
        if machine.accelerator and request.instance_type is None:
            return False
    elif machine.accelerator_count != wanted.count:
        return False
    elif by_memory is not None:
        gib = machine.accelerator_gib
        if gib < by_memory.value or (gib > by_memory.value and not by_memory.at_least):
            return False
    elif machine.accelerator.lower() != wanted.name.lower():
        return False
    for amount, here in ((request.cpus, machine.vcpus), (request.memory, machine.memory_gib)):
        if amount is None:
            continue
        least = amount.value * machine.vcpus if amount.per_cpu else amount.value
        is_open = amount.at_least or amount.per_cpu
        if here < least or (here > least and not is_open) or (amount.per_cpu and not here):
            return False
    return True


def _is_place_wanted(line: _Line, request: Request, rules: Rules) -> bool:
    infra = request.infra
    if infra.region not in {None, line.region} or infra.zone not in {None, line.zone}:
        return False
    if request.regions is not None and line.region not in request.regions:
        return False
    return infra.region is not None or not (line.is_opt_in and Rule.OPT_IN in rules.holding)


def _is_blocked(machine: MachineType, line: _Line, request: Request, block: Block) -> bool:
    named = (
        (block.cloud, machine.cloud), (block.region, line.region), (block.zone, line.zone),
        (block.instance_type, machine.name), (block.spot, request.spot),
        (block.accelerator, machine.accelerator),
        (block.accelerator_count, machine.accelerator_count),
    )  # fmt: skip
    return all(wanted in {None, here} for wanted, here in named)
