"""All offers of a catalog that a request may have: the best of each region, and how many there are.

Within a region nothing but the price tells two offers apart, so the best of each region is all that
a choice needs, and an index of the catalog knows it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trainway.api.task.amounts import Amount
from trainway.api.task.local_disk import NVME, SSD, LocalDisk
from trainway.catalog.offer import Offer, Trait
from trainway.catalog.reservations import Reservation
from trainway.catalog.store import Catalog, Condition
from trainway.optimizer.cloud_limits import in_zone, reason_against, type_conditions
from trainway.optimizer.request import Block, Request
from trainway.optimizer.rules import Rule, Rules


@dataclass(frozen=True)
class RegionOffer:
    """The lowest price of a region for what a request asks for."""

    cloud: str
    region: str
    hourly: float
    """For one node."""
    request: Request
    offers: int
    """How many offers of the region would do."""
    reservation: Reservation | None = None
    """What was reserved and paid for, and is free for all nodes of the request."""

    @property
    def place(self) -> tuple[str, str]:
        """Where it is."""
        return self.cloud, self.region


class Search:
    """A catalog, with the rules that hold and what is blocked."""

    def __init__(
        self,
        catalog: Catalog,
        rules: Rules | None = None,
        blocks: Sequence[Block] = (),
        reservations: Sequence[Reservation] = (),
    ) -> None:
        self._catalog = catalog
        rows = catalog.rows("SELECT id, cloud, name FROM regions")
        self._places: dict[int, tuple[str, str]] = {row[0]: (row[1], row[2]) for row in rows}
        self._numbers = {place: number for number, place in self._places.items()}
        self._clouds = sorted({cloud for cloud, _ in self._numbers})
        self._rules = Rules() if rules is None else rules
        self._blocks = [block for block in blocks if block.reservation is None]
        self._reservations = [
            each for each in reservations if not any(is_reserved(each, block) for block in blocks)
        ]

    def regions(self, request: Request) -> list[RegionOffer]:
        """The best of each region that has something."""
        price, offers = _columns(request)
        table = self._table(request)
        counted = "count(*)" if table == "offers" else f"sum(p.{offers})"
        tail = "GROUP BY p.region"
        found = self._select(table, f"p.region, min(p.{price}), {counted}", request, tail=tail)
        return [self._region_offer(request, row) for row in found]

    def _table(self, request: Request) -> str:
        """Where to look: the offers themselves, if zones matter, or which of them are too dear."""
        is_by_zone = request.infra.zone is not None or any(each.zone for each in self._blocks)
        return "offers" if is_by_zone or request.max_hourly_cost is not None else "best"

    def lowest(self, request: Request) -> tuple[list[RegionOffer], int] | None:
        """The regions with the lowest price of all, and how many offers there are anywhere.

        The catalog knows the lowest price of each machine type, and how many offers it has. That is
        of no use where regions matter, or a price is too high: None.
        """
        if self._regions_matter(request) or request.max_hourly_cost is not None:
            return None
        price, offers = _columns(request)
        ((least, count),) = self._select(
            "machines", f"min(m.{price}), sum(m.{offers})", request, price=f"m.{price}"
        )
        if least is None:
            return [], 0
        cheapest = [Condition(f"m.{price} = ? AND p.{price} = ?", (least, least))]
        columns = f"p.region, min(p.{price}), sum(p.{offers})"
        found = self._select("best", columns, request, cheapest, tail="GROUP BY p.region")
        return [self._region_offer(request, row) for row in found], count

    def regions_of(self, cloud: str) -> list[str]:
        """The names of all regions of a cloud."""
        return sorted(name for each, name in self._numbers if each == cloud)

    def clouds(self, request: Request) -> list[RegionOffer]:
        """The best of each cloud, cheapest first."""
        best: dict[str, RegionOffer] = {}
        for offer in sorted(self.regions(request), key=lambda each: (each.hourly, each.region)):
            best.setdefault(offer.cloud, offer)
        return list(best.values())

    def _region_offer(self, request: Request, row: Sequence[Any]) -> RegionOffer:
        region, hourly, offers = row
        cloud, name = self._places[region]
        return RegionOffer(cloud, name, hourly, request, offers)

    def _regions_matter(self, request: Request) -> bool:
        return (
            request.infra.region is not None
            or request.infra.zone is not None
            or request.regions is not None
            or Rule.OPT_IN not in self._rules.holding
            or any(block.region or block.zone for block in self._blocks)
        )

    def best(self, chosen: RegionOffer) -> Offer:
        """The offer behind a price; of equal ones most memory counts, then CPUs, then the name.

        Zones with long names are local ones, which an account has to enable: they come last.
        """
        if chosen.reservation is not None:
            return self._reserved_offer(chosen.request, chosen.reservation)
        price, _ = _columns(chosen.request)
        here = [
            Condition("m.cloud = ?", (chosen.cloud,)),  # so types of other clouds are not looked up
            Condition("p.region = ?", (self._numbers[chosen.place],)),
            Condition(f"p.{price} = ?", (chosen.hourly,)),
        ]
        tail = "ORDER BY m.memory_gib DESC, m.vcpus DESC, m.name, length(p.zone), p.zone LIMIT 1"
        columns = "m.id, p.zone, p.price, p.spot"
        (row,) = self._select("offers", columns, chosen.request, here, tail=tail)
        machine, zone = self._catalog.machine(row[0]), row[1] or chosen.request.infra.zone or ""
        return Offer(machine, chosen.region, zone, *row[2:])

    def reserved(self, request: Request) -> list[RegionOffer]:
        """What was reserved that has all nodes of a request: it costs nothing more."""
        return [
            RegionOffer(each.cloud, each.region, 0.0, request, 1, each)
            for each in self._reservations
            if not request.spot
            and request.nodes <= each.count
            and request.infra.zone in {None, each.zone}
            and request.infra.region in {None, each.region}
            and self._reserved_rows(request, each)
        ]

    def _reserved_rows(self, request: Request, found: Reservation) -> list[tuple[Any, ...]]:
        """The first offer of the type that was reserved, if it will do; its price is no matter."""
        wanted = replace(
            request,
            infra=replace(request.infra, region=found.region, zone=None),
            max_hourly_cost=None,
        )
        plain = Search(self._catalog, self._rules) if self._blocks else self
        return plain.of_type(wanted, found.cloud, found.instance_type)

    def of_type(self, request: Request, cloud: str, name: str) -> list[tuple[Any, ...]]:
        """The first offer of a machine type, if it will do: machine, zone and prices."""
        named = [Condition("m.cloud = ? AND m.name = ?", (cloud, name))]
        columns, tail = "m.id, p.zone, p.price, p.spot", "ORDER BY length(p.zone), p.zone LIMIT 1"
        return self._select("offers", columns, request, named, tail=tail)

    def _reserved_offer(self, request: Request, found: Reservation) -> Offer:
        ((machine, zone, price, spot),) = self._reserved_rows(request, found)
        known = self._catalog.machine(machine)
        return Offer(known, found.region, found.zone or zone, price, spot)

    def refused(self, request: Request) -> dict[str, str]:
        """Why clouds are left out that have such machines otherwise."""
        plain = replace(
            request, disk_tier=None, disk_gb=None, image="", labels=(), local_disk=None,
            fast_network=False,
        )  # fmt: skip
        found = {cloud: reason_against(cloud, request) for cloud in self._clouds}
        reasons = {cloud: reason for cloud, reason in found.items() if reason is not None}
        if not reasons:
            return {}
        having = {each.cloud for each in self.regions(plain)}
        return {cloud: reason for cloud, reason in reasons.items() if cloud in having}

    def machines(self, request: Request) -> int:
        """How many machine types would do."""
        ((count,),) = self._select(self._table(request), "count(DISTINCT m.id)", request)
        return int(count)

    def left_out(self, request: Request) -> dict[Rule, int]:
        """How many machine types each rule alone keeps out."""
        counts = {}
        for rule in sorted(self._rules.holding):
            others = Rules(self._rules.holding - {rule})
            without = Search(self._catalog, others, self._blocks)
            counts[rule] = without.machines(request) - self.machines(request)
        return {rule: count for rule, count in counts.items() if count}

    def accelerators(self) -> list[str]:
        """The names of all accelerators of the catalog."""
        return self._catalog.accelerators()

    def counts_of(self, accelerator: str) -> list[float]:
        """How many of an accelerator machines have."""
        query = "SELECT DISTINCT accelerator_count FROM machines WHERE accelerator_key = ?"
        return sorted(count for (count,) in self._catalog.rows(query, (accelerator.lower(),)))

    def _select(
        self,
        table: str,
        columns: str,
        request: Request,
        more: Sequence[Condition] = (),
        *,
        price: str | None = None,
        tail: str = "",
    ) -> list[tuple[Any, ...]]:
        price = price or f"p.{_columns(request)[0]}"
        conditions = [*self._conditions(request, price), *more]
        if table != "machines":
            conditions += self._place_conditions(request)
        texts = " AND ".join(each.text for each in conditions)
        query = f"SELECT {columns} FROM machines m"  # noqa: S608 - ours
        if table != "machines":
            query += f" JOIN {table} p ON p.machine = m.id"
        if "r." in texts:
            query += " JOIN regions r ON r.id = p.region"
        values = [value for each in conditions for value in each.values]
        return self._catalog.rows(f"{query} WHERE {texts} {tail}", values)

    def _conditions(self, request: Request, price: str) -> Iterator[Condition]:
        """What a machine type must be like, and its price."""
        yield Condition(f"{price} IS NOT NULL")
        if request.max_hourly_cost is not None:
            yield Condition(f"{price} <= ?", (request.max_hourly_cost,))
        if request.infra.cloud is not None:
            yield Condition("m.cloud = ?", (request.infra.cloud,))
        yield from _size(request)
        yield from self._disk_conditions(request)
        if request.instance_type is None:
            yield from self._trait_conditions(request)
        for block in self._blocks:
            if block.spot is None or block.spot == request.spot:
                yield _unblocked(block, request.infra.zone)

    def _disk_conditions(self, request: Request) -> Iterator[Condition]:
        """Which clouds can do what is asked for, and which of their types."""
        unable = [cloud for cloud in self._clouds if reason_against(cloud, request)]
        if unable:
            yield Condition(f"m.cloud NOT IN ({', '.join('?' * len(unable))})", unable)
        yield from type_conditions(request)

    def _trait_conditions(self, request: Request) -> Iterator[Condition]:
        unwanted = set(self._rules.traits())
        if self._only_on_arm(request):
            unwanted.discard(Trait.ARM)
        if unwanted == set(Trait):
            yield Condition("m.traits = ''")
        else:
            for trait in sorted(unwanted):
                yield Condition("instr(m.traits, ?) = 0", (trait.value,))

    def _place_conditions(self, request: Request) -> Iterator[Condition]:
        """Where it must be."""
        if request.infra.region is not None:
            yield Condition("r.name = ?", (request.infra.region,))
        elif Rule.OPT_IN in self._rules.holding:
            yield Condition("NOT p.opt_in")
        if request.infra.zone is not None:
            yield in_zone(request.infra.zone)
        if request.regions is not None:
            marks = ", ".join("?" * len(request.regions))
            yield Condition(f"r.name IN ({marks})", sorted(request.regions))

    def _only_on_arm(self, request: Request) -> bool:
        """An accelerator whose hosts all are ARM is asked for together with them."""
        if request.accelerator is None or request.accelerator_gib is not None:
            return False
        query = "SELECT 1 FROM machines WHERE accelerator_key = ? AND instr(traits, ?) = 0 LIMIT 1"
        return not self._catalog.rows(query, (request.accelerator.name.lower(), Trait.ARM.value))


def is_reserved(reservation: Reservation, block: Block) -> bool:
    """Whether a block is about what was reserved."""
    pairs = (
        (block.cloud, reservation.cloud),
        (block.region, reservation.region),
        (block.zone, reservation.zone),
        (block.instance_type, reservation.instance_type),
        (block.reservation, reservation.id),
        (block.spot, False),
    )
    return all(wanted in {None, here} for wanted, here in pairs)


def _columns(request: Request) -> tuple[str, str]:
    """The price that counts, and the number of offers that have one."""
    return ("spot", "spot_offers") if request.spot else ("price", "offers")


def _size(request: Request) -> Iterator[Condition]:
    if request.instance_type is not None:
        yield Condition("m.name = ?", (request.instance_type,))
    accelerator, by_memory = request.accelerator, request.accelerator_gib
    if by_memory is not None:
        yield Condition("m.accelerator_count = ?", (accelerator.count if accelerator else 1,))
        yield _amount("m.accelerator_gib", by_memory)
    elif accelerator is not None:
        yield Condition(
            "m.accelerator_key = ? AND m.accelerator_count = ?",
            (accelerator.name.lower(), accelerator.count),
        )
    elif request.instance_type is None:
        yield Condition("m.accelerator_key = ''")
    if request.cpus is not None:
        yield _amount("m.vcpus", request.cpus)
    if request.memory is not None:
        yield _amount("m.memory_gib", request.memory)
    if request.fast_network:
        yield Condition("m.fast_network")
    if request.local_disk is not None:
        yield from _local_disk(request.local_disk)


def _local_disk(wanted: LocalDisk) -> Iterator[Condition]:
    yield Condition("m.local_disk > 0")
    if wanted.size is not None:
        yield _amount("m.local_disk", wanted.size)
    if wanted.kind:
        kinds = (wanted.kind,) if wanted.kind == NVME else (NVME, SSD)
        yield Condition(f"m.local_disk_kind IN ({', '.join('?' * len(kinds))})", kinds)


def _amount(column: str, amount: Amount) -> Condition:
    if amount.per_cpu:
        return Condition(f"{column} >= ? * m.vcpus AND {column} > 0", (amount.value,))
    return Condition(f"{column} {'>=' if amount.at_least else '='} ?", (amount.value,))


def _unblocked(block: Block, asked: str | None) -> Condition:
    """What is not blocked; where a list has no zones, the zone that was asked for may be."""
    parts: list[tuple[str, object]] = [
        *(("m.cloud", block.cloud), ("r.name", block.region), ("p.zone", block.zone)),
        ("m.name", block.instance_type),
        ("m.accelerator_key", block.accelerator and block.accelerator.lower()),
        ("m.accelerator_count", block.accelerator_count),
    ]
    named = [(column, value) for column, value in parts if value is not None]
    text = " AND ".join(f"{column} = ?" for column, _ in named)
    if block.zone is not None and block.zone == asked:
        text = text.replace("p.zone = ?", "p.zone IN (?, '')")
    return Condition(f"NOT ({text})", [value for _, value in named])
