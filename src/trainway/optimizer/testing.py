"""A small catalog for tests, and what somebody finds in it who looks at every single offer."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from trainway.catalog.csv_format import Row
from trainway.catalog.offer import MachineType, Trait
from trainway.catalog.store import Catalog, compile_catalog
from trainway.catalog.traits import is_opt_in, traits
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
) -> Row:
    """One line of a catalog."""
    return Row(name, vcpus, memory, accelerator, count, gib, region, zone, price, spot)


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
        self, request: Request, blocks: Sequence[Block] = (), rules: Rules | None = None
    ) -> float | None:
        """The lowest price, found by looking at every line; None: nothing fits."""
        held = Rules() if rules is None else rules
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
                    and not any(_is_blocked(machine, line, request, block) for block in blocks)
                ):
                    lowest = price
        most = request.max_hourly_cost
        return None if lowest is None or (most is not None and lowest > most) else lowest

    def _with_accelerator(self, request: Request) -> Iterable[tuple[MachineType, list[_Line]]]:
        """All machines with the accelerator, or all of them where none is named."""
        if request.instance_type is not None or request.accelerator_gib is not None:
            return chain.from_iterable(each.items() for each in self._lines.values())
        named = request.accelerator.name.lower() if request.accelerator else ""
        return self._lines[named].items()

    def _is_wanted(self, machine: MachineType, request: Request, rules: Rules) -> bool:
        if request.infra.cloud not in {None, machine.cloud}:
            return False
        if not _is_large_enough(machine, request):
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
    return MachineType(
        cloud, each.instance_type, each.vcpus, each.memory_gib, each.accelerator,
        each.accelerator_count, each.accelerator_gib,
        traits(cloud, each.instance_type, each.accelerator),
    )  # fmt: skip


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
    )  # fmt: skip
    return all(wanted in {None, here} for wanted, here in named)
