"""Looks at rented machines every now and then, for as long as there are any that run."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

from trainway.engine.background import Background
from trainway.engine.backoff import Backoff
from trainway.engine.rental.book import RentalBook, SupersededError
from trainway.engine.rental.context import RentalContext
from trainway.engine.rental.record import ON_THE_WAY_OUT, Rental, RentalState
from trainway.engine.rental.steps import Steps
from trainway.engine.rental.watch import Found, RentalChange, Seen, not_on, seen, warned
from trainway.errors import DatabaseError
from trainway.providers.base import Ability, Notice
from trainway.providers.errors import ProviderError

log = logging.getLogger(__name__)

INTERVAL_S: Final = 15.0
"""A notice of AWS comes two minutes ahead, one of Google half a minute."""
_MAY_RUN: Final = frozenset(RentalState) - {RentalState.STOPPED, *ON_THE_WAY_OUT}


class Watcher:
    """Watches all rentals that run."""

    def __init__(self, around: RentalContext, book: RentalBook, steps: Steps) -> None:
        self._around = around
        self._book = book
        self._steps = steps
        self._background = Background()
        self._heard: list[Callable[[RentalChange], Awaitable[None]]] = []
        self._watching: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Watch no more."""
        await self._background.close()

    def subscribe(self, heard: Callable[[RentalChange], Awaitable[None]]) -> None:
        """Be told what happens to machines without us."""
        self._heard.append(heard)

    def watch(self) -> None:
        """Watch from now on, until nothing runs any more."""
        if self._is_needed() and (self._watching is None or self._watching.done()):
            self._watching = self._background.spawn(self._watch())

    def _running(self) -> list[Rental]:
        return [each for each in self._book.all() if each.state is RentalState.RUNNING]

    def _is_needed(self) -> bool:
        """Whether something runs, or may soon."""
        return any(each.state in _MAY_RUN for each in self._book.all())

    async def _watch(self) -> None:
        pause_s, backoff = INTERVAL_S, Backoff()
        while self._is_needed():
            await self._around.pause(pause_s)
            pause_s = INTERVAL_S
            try:
                await self.look()
                backoff.reset()
            except DatabaseError as error:
                log.warning("what became of rented machines is seen later: %s", error)
                pause_s = backoff.next()
            except Exception:
                log.exception("rented machines cannot be looked at")

    async def look(self) -> list[RentalChange]:
        """Ask the clouds what has become of all machines, and tell who subscribes."""
        places: dict[tuple[str, str], list[Rental]] = defaultdict(list)
        for rental in self._running():
            places[rental.cloud, rental.region].append(rental)
        changes: list[RentalChange] = []
        looks = [self._look_at(*place, rentals, changes) for place, rentals in places.items()]
        found = await asyncio.gather(*looks, return_exceptions=True)
        for change in changes:  # they are written, so nobody finds them a second time
            await self._tell(change)
        for failure in found:
            if failure is not None:
                raise failure
        return changes

    async def hear(self, cluster: str, notices: Sequence[Notice]) -> None:
        """Take in what machines of a cluster say themselves: the same as if their cloud said it."""
        while (rental := self._book.current(cluster)) is not None:
            found = warned(rental, notices, self._book.now)
            try:
                await self._note(rental, found)
            except SupersededError:
                continue
            for change in found.changes:
                await self._tell(change)
            return

    async def _look_at(
        self, cloud: str, region: str, rentals: Sequence[Rental], changes: list[RentalChange]
    ) -> None:
        """Write what has changed there, and add it to the changes."""
        try:
            found = await self._found(cloud, region, rentals)
        except ProviderError as error:
            log.warning("machines in %s/%s cannot be seen: %s", cloud, region, error)
            return
        for rental in rentals:
            now = self._book.get(rental.token)
            if now is None or now.state is not RentalState.RUNNING:
                continue  # somebody has changed it meanwhile
            ours = [each for each in found.machines if each.token == rental.token]
            after = seen(now, replace(found, machines=ours), self._book.now)
            try:
                await self._note(now, after)
            except SupersededError:
                continue
            changes += after.changes

    async def _found(self, cloud: str, region: str, rentals: Sequence[Rental]) -> Found:
        clouds = self._around.clouds
        provider = await clouds.provider(cloud)
        owner = rentals[0].gang.owner
        machines = await clouds.call(provider.find, region, owner)
        off = [name for rental in rentals for name in not_on(rental, machines)]
        ends = await clouds.ends(provider, region, off)
        on_spot = {each.id for rental in rentals if rental.spot for each in rental.machines}
        gone = [name for name in off if name in on_spot]
        others = await clouds.ended_by_others(provider, region, gone)
        asked = sorted(on_spot & {each.id for each in machines})
        if not asked or Ability.SPOT_NOTICE in provider.missing():
            return Found(machines, [], ends, others)
        notices = await clouds.call(provider.notices, region, asked)
        return Found(machines, notices, ends, others)

    async def _note(self, before: Rental, found: Seen) -> None:
        if found.rental != before:
            await self._book.update(before, found.rental)
        if found.rental.state is RentalState.ENDING:
            self._steps.persist(found.rental.token)

    async def _tell(self, change: RentalChange) -> None:
        for heard in self._heard:
            try:
                await heard(change)
            except Exception:
                log.exception("cluster %s: a change is not told", change.rental.cluster)
