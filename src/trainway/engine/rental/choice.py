"""The best offer that is left: the optimizer, with what must not be tried taken out."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from trainway.catalog.reservations import Reservation
from trainway.catalog.store import Catalog
from trainway.catalog.traits import is_opt_in
from trainway.engine.rental.record import Attempt, Rental
from trainway.engine.rental.terms import Terms
from trainway.errors import NotFoundError
from trainway.optimizer.plan import plan
from trainway.optimizer.request import Block, Request, TaskRequest
from trainway.optimizer.rules import Rule, Rules
from trainway.optimizer.search import Search
from trainway.providers.section import CloudSettings


@dataclass(frozen=True)
class Chosen:
    """An offer, and what an hour of all nodes costs."""

    cloud: str
    region: str
    zone: str
    instance_type: str
    spot: bool
    nodes: int
    hourly_price: str
    on_demand_price: str = ""
    """What the same machines cost on demand; empty: they are not spot, or nobody says."""
    accelerator: str = ""
    accelerator_count: int = 0
    """Of each node. Some clouds attach them to types that may be had without."""
    reservation: str = ""
    """What they are taken out of; empty: nothing that was reserved."""

    def columns(self) -> dict[str, Any]:
        """The offer as a row of the ledger has it; its request has the rest."""
        apart = ("accelerator", "accelerator_count", "reservation")
        return {name: value for name, value in vars(self).items() if name not in apart}

    def attempt(self) -> Attempt:
        """The offer as something that is tried."""
        return Attempt(
            *(self.cloud, self.region, self.zone, self.instance_type),
            *(self.spot, self.hourly_price),
            reservation=self.reservation,
        )


def choose(
    opened: Callable[[], Catalog],
    wanted: TaskRequest,
    terms: Terms,
    clouds: Collection[str],
    blocks: Sequence[Block],
    used: Mapping[str, int],
) -> Chosen:
    """The best offer of these clouds; NotFoundError says why there is none.

    The catalog is opened anew: what reads it belongs to one thread. `used` says how many machines
    of what was reserved are taken.
    """
    _check_providers(wanted, clouds)
    named = {each.infra.region for each in wanted.requests}
    rules = _rules(terms)
    with closing(opened()) as catalog:
        left_out = [
            block
            for cloud in catalog.clouds()
            for block in _left_out(catalog, cloud, terms, clouds, rules)
            if block.region is None or block.region not in named
        ]
        search = Search(catalog, rules, [*left_out, *blocks], free(terms, used))
        task = replace(wanted, requests=[_priced(each, terms) for each in wanted.requests])
        choice = plan(search, [task], {}).choices[0]
    offer, nodes = choice.offer, choice.request.nodes
    spot = choice.request.spot
    return Chosen(
        *(offer.machine.cloud, offer.region, offer.zone, offer.machine.name),
        *(spot, nodes, _of_all(choice.node_price, nodes)),
        _of_all(offer.price, nodes) if spot and offer.price else "",
        *(offer.machine.accelerator, int(offer.machine.accelerator_count)),
        "" if choice.reservation is None else choice.reservation.id,
    )


def _check_providers(wanted: TaskRequest, clouds: Collection[str]) -> None:
    """Raise where nothing can be rented of all the clouds that were named."""
    named = {each.infra.cloud for each in wanted.requests}
    if None in named or named & set(clouds):
        return
    raise NotFoundError(
        f"Trainway cannot rent machines of {', '.join(sorted(filter(None, named)))} yet",
        hint=f"it can on {', '.join(clouds)}",
    )


def free(terms: Terms, used: Mapping[str, int]) -> list[Reservation]:
    """What was reserved, as far as it is not taken; nothing counts where one is named already."""
    if terms.reservation:
        return []
    found = [each for settings in terms.settings.values() for each in settings.reservations]
    return [replace(each, count=each.count - used.get(each.id, 0)) for each in found]


def taken(rentals: Iterable[Rental]) -> dict[str, int]:
    """How many machines of each reservation are taken."""
    counts: dict[str, int] = {}
    for rental in rentals:
        if rental.request and (name := rental.gang.reservation):
            counts[name] = counts.get(name, 0) + rental.nodes
    return counts


def _of_all(price: float, nodes: int) -> str:
    """What an hour of all nodes costs, exactly."""
    return f"{Decimal(str(price)) * nodes:f}"


def _priced(request: Request, terms: Terms) -> Request:
    """The request with the limit for all nodes as one for each."""
    if terms.max_hourly_cost is None:
        return request
    limits = [request.max_hourly_cost, terms.max_hourly_cost / request.nodes]
    return replace(request, max_hourly_cost=min(each for each in limits if each is not None))


def _rules(terms: Terms) -> Rules:
    """All rules; where some regions are enabled, those that are not are left out one by one."""
    if any(settings.enabled_regions for settings in terms.settings.values()):
        return Rules(frozenset(Rule) - {Rule.OPT_IN})
    return Rules()


def _left_out(
    catalog: Catalog, cloud: str, terms: Terms, clouds: Collection[str], rules: Rules
) -> Iterator[Block]:
    """A cloud that may not be used, or the regions of it that its settings leave out."""
    if cloud not in clouds or (terms.clouds is not None and cloud not in terms.clouds):
        yield Block(cloud)
        return
    settings = terms.settings.get(cloud) or CloudSettings()
    if not settings.regions and Rule.OPT_IN in rules.holding:
        return
    for (region,) in catalog.rows("SELECT name FROM regions WHERE cloud = ?", (cloud,)):
        is_unused = bool(settings.regions) and region not in settings.regions
        if is_unused or (is_opt_in(cloud, region) and region not in settings.enabled_regions):
            yield Block(cloud, region)
