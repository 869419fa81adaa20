"""Machines that carry the id of this server and that its ledger does not know."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from trainway.engine.rental.book import RentalBook
from trainway.engine.rental.context import RentalContext
from trainway.providers.base import COSTS_NOTHING, Machine
from trainway.providers.errors import ProviderError


@dataclass(frozen=True)
class SweptMachine:
    """A machine that nobody needs."""

    cloud: str
    region: str
    id: str
    cluster: str
    token: str
    instance_type: str
    state: str
    ended: bool = False
    """Whether it was ended now; False where that was not asked for, or failed."""
    problem: str = ""


@dataclass(frozen=True)
class SweepReport:
    """What a sweep has found."""

    machines: Sequence[SweptMachine]
    problems: Sequence[str]
    """Where it could not look, and why."""
    places: Sequence[str] = ()
    """The regions in which it has looked: `aws/us-east-1`."""


class Sweeper:
    """Looks for machines that are ours and that nobody needs."""

    def __init__(self, around: RentalContext, book: RentalBook) -> None:
        self._clouds = around.clouds
        self._around = around
        self._book = book
        self._machines: list[SweptMachine] = []
        self._problems: list[str] = []
        self._places: list[str] = []

    async def sweep(self, *, dry_run: bool) -> SweepReport:
        """Look in all regions of all clouds whose credentials are good."""
        owner = await self._clouds.work(self._around.owner)
        names = await self._clouds.work(self._clouds.names)
        checked = await asyncio.gather(*map(self._clouds.check, names))
        used = {(rental.cloud, rental.region) for rental in self._book.all() if rental.cloud}
        looks = []
        for found in checked:
            if found.identity is None and found.missing is not None:
                self._problems.append(f"{found.cloud}: {found.problem}")
            regions = {*found.regions, *(region for cloud, region in used if cloud == found.cloud)}
            if found.identity is not None:
                looks += [self._look(found.cloud, each, owner, dry_run=dry_run) for each in regions]
        await asyncio.gather(*looks)
        order = sorted(self._machines, key=lambda each: (each.cloud, each.region, each.id))
        return SweepReport(tuple(order), tuple(sorted(self._problems)), tuple(sorted(self._places)))

    async def _look(self, cloud: str, region: str, owner: str, *, dry_run: bool) -> None:
        try:
            provider = await self._clouds.provider(cloud)
            found = await self._clouds.call(provider.find, region, owner)
        except ProviderError as error:
            self._problems.append(f"{cloud}/{region}: {error.message}")
            return
        self._places.append(f"{cloud}/{region}")
        # Rows are written before machines are made: what is in none by now, is in none for good.
        unknown = [each for each in found if self._is_unknown(each)]
        orphans = [each for each in unknown if each.token]
        self._problems += [
            f"{cloud}/{region}: {each.id} is marked as ours, but not for which request; it is left"
            for each in unknown
            if not each.token
        ]
        swept = [_swept(cloud, region, each) for each in orphans]
        if orphans and not dry_run:
            try:
                await self._clouds.call(provider.end, region, [each.id for each in orphans])
                for cluster in sorted({each.cluster for each in orphans}):
                    if not self._book.of_cluster(cluster):
                        await self._clouds.call(provider.release, region, owner, cluster)
            except ProviderError as error:
                swept = [replace(each, problem=error.message) for each in swept]
            else:
                swept = [replace(each, ended=True) for each in swept]
        self._machines += swept

    def _is_unknown(self, machine: Machine) -> bool:
        living = self._book.all()
        is_known = any(
            machine.token == rental.token or machine.id in {each.id for each in rental.machines}
            for rental in living
        )
        return not is_known and machine.state not in COSTS_NOTHING


def _swept(cloud: str, region: str, machine: Machine) -> SweptMachine:
    return SweptMachine(
        *(cloud, region, machine.id, machine.cluster, machine.token),
        *(machine.instance_type, machine.state),
    )
