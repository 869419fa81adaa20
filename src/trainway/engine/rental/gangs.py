"""The machines of one rental, at their cloud: made, stopped, started and given back.

Every step may be repeated, by another server too: it looks first at what is there.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from trainway.engine.rental.book import RentalBook, SupersededError
from trainway.engine.rental.context import RentalContext
from trainway.engine.rental.meter import ON, metered
from trainway.engine.rental.record import IN_THE_MAKING, Rental, RentalState, RentedMachine, rented
from trainway.providers.base import COSTS_NOTHING, Machine, MachineState
from trainway.providers.errors import ProviderError, Scope, Trouble

_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 5.0
_PATIENCE_S: Final = 600.0
"""How long machines may take to come to a state."""


class Gangs:
    """The machines of all rentals."""

    def __init__(self, around: RentalContext, book: RentalBook) -> None:
        self._clouds = around.clouds
        self._around = around
        self._book = book
        self._locks: dict[str, asyncio.Lock] = {}
        self._without_machines: set[str] = set()
        """Tokens of rows that are about to end: their machines are gone."""

    def _lock(self, rental: Rental) -> asyncio.Lock:
        """Held while a cloud is told to change something for a cluster."""
        return self._locks.setdefault(rental.cluster, asyncio.Lock())

    async def create(self, rental: Rental) -> Sequence[RentedMachine]:
        """Have the machines made, or find those that were, and wait until all of them run."""
        provider = await self._clouds.provider(rental.cloud)
        async with self._lock(rental):
            self._check(rental)
            host_key = await self._clouds.call(self._around.host_key, rental)
            await self._clouds.call(provider.create, replace(rental.gang, host_key=host_key))
        return await self._until_up(rental)

    async def stop(self, rental: Rental) -> Sequence[RentedMachine]:
        """Stop those that run, and wait until none does."""
        provider = await self._clouds.provider(rental.cloud)
        async with self._lock(rental):
            self._check(rental)
            running = [each.id for each in await self._find(rental) if each.state in ON]
            if running:
                await self._clouds.call(provider.stop, rental.region, running)
        return await self._until(
            rental, lambda found: all(each.state == MachineState.STOPPED for each in found)
        )

    async def start(self, rental: Rental) -> Sequence[RentedMachine]:
        """Start those that are stopped, and wait until all of them run."""
        provider = await self._clouds.provider(rental.cloud)
        async with self._lock(rental):
            self._check(rental)
            found = await self._find(rental)
            if len(found) < rental.nodes:
                raise ProviderError(
                    f"{rental.place}: of {rental.nodes} machines {len(found)} are left",
                    trouble=Trouble.INVALID,
                    scope=Scope.CLOUD,
                    hint="take the cluster down and launch it again",
                )
            stopped = [each.id for each in found if each.state not in ON]
            if stopped:
                await self._clouds.call(provider.start, rental.region, stopped)
        return await self._until_up(rental)

    async def give_back(self, rental: Rental) -> Sequence[RentedMachine]:
        """End all machines, and what else was made for them."""
        if not rental.cloud:
            return ()
        provider = await self._clouds.provider(rental.cloud)
        known = {each.id for each in rental.machines}
        machines = {each.id: each for each in rental.machines}
        asked = ""
        async with self._lock(rental):
            for pause_s in _pauses():
                there = rented(await self._find(rental))
                machines = {each.id: each for each in there} | machines
                found = {each.id for each in there}
                if not known | found:
                    break
                await self._clouds.call(provider.end, rental.region, sorted(known | found))
                known, asked = set(), asked or self._book.now
                if not found:
                    break
                await self._around.pause(pause_s)
            else:
                raise _too_slow(rental, "end")
            self._without_machines &= {each.token for each in self._book.all()}
            self._without_machines.add(rental.token)
            if not self._is_used_by_another(rental):
                owner = rental.gang.owner
                await self._clouds.call(provider.release, rental.region, owner, rental.cluster)
        running = [each.id for each in machines.values() if not each.ended]
        ends = await self._clouds.ends(provider, rental.region, running)
        return metered(list(machines.values()), (), ends, asked or self._book.now)

    def _is_used_by_another(self, rental: Rental) -> bool:
        """Whether the cluster has other machines in the region, with which it shares the rest."""
        return any(
            (other.cloud, other.region) == (rental.cloud, rental.region)
            and other.token not in self._without_machines
            and other.state is not RentalState.PLANNED
            for other in self._book.of_cluster(rental.cluster)
        )

    async def _find(self, rental: Rental) -> list[Machine]:
        provider = await self._clouds.provider(rental.cloud)
        gang = rental.gang
        found = await self._clouds.call(provider.find, rental.region, gang.owner, rental.token)
        return [each for each in found if each.state not in COSTS_NOTHING]

    async def _until_up(self, rental: Rental) -> Sequence[RentedMachine]:
        seen: set[str] = set()

        def are_up(found: Sequence[Machine]) -> bool:
            alive = {each.id for each in found if each.state in ON}
            if seen - alive:
                raise ProviderError(
                    f"{rental.place}: a machine was taken away while it started",
                    trouble=Trouble.CAPACITY,
                    scope=Scope.ZONE,
                    spot_only=rental.spot,
                )
            seen.update(alive)
            return len(found) >= rental.nodes and all(map(_is_up, found))

        return await self._until(rental, are_up)

    async def _until(
        self, rental: Rental, is_reached: Callable[[Sequence[Machine]], bool]
    ) -> Sequence[RentedMachine]:
        for pause_s in _pauses():
            self._check(rental)
            found = await self._find(rental)
            if is_reached(found):
                return await self._metered(rental, found)
            await self._around.pause(pause_s)
        raise _too_slow(rental, "become ready" if rental.state in IN_THE_MAKING else "follow")

    async def _metered(self, rental: Rental, found: Sequence[Machine]) -> Sequence[RentedMachine]:
        provider = await self._clouds.provider(rental.cloud)
        off = [each.id for each in found if each.state not in ON]
        ends = await self._clouds.ends(provider, rental.region, off)
        return metered(rental.machines, rented(found), ends, self._book.now)

    def _check(self, rental: Rental) -> None:
        """Go on only while what was asked for is still wanted."""
        now = self._book.get(rental.token)
        if now is None or now.state is not rental.state:
            raise SupersededError


def _is_up(machine: Machine) -> bool:
    has_address = bool(machine.public_address or machine.private_address)
    return machine.state == MachineState.RUNNING and has_address


def _pauses() -> Iterator[float]:
    """The pauses between looks, until nobody waits any more."""
    passed, pause_s = 0.0, _FIRST_PAUSE_S
    while passed < _PATIENCE_S:
        yield pause_s
        passed += pause_s
        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


def _too_slow(rental: Rental, verb: str) -> ProviderError:
    return ProviderError(
        f"{rental.place}: the machines did not {verb} within {_PATIENCE_S / 60:g} minutes",
        trouble=Trouble.OTHER,
        scope=Scope.ZONE,
    )
