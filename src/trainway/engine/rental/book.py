"""The rows of the ledger that have not ended, in memory and in the store.

What is said of a rental is written first, and counts then.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from trainway.engine.background import Background
from trainway.engine.backoff import Backoff
from trainway.engine.ledger import Ledger
from trainway.engine.rental.record import FOLLOWING, ON_THE_WAY_OUT, Rental, RentalState
from trainway.engine.times import time_text
from trainway.errors import DatabaseError

log = logging.getLogger(__name__)

_FIRST: Final = frozenset({RentalState.PLANNED, RentalState.ENDED})
"""How a row may begin; one that has ended may be written so once more."""


class SupersededError(Exception):
    """Somebody wants something else of the rental by now; whoever wrote that goes on with it."""


class RentalBook:
    """All rentals that have not ended, by token."""

    def __init__(self, ledger: Ledger, clock: Callable[[], datetime]) -> None:
        self._ledger = ledger
        self._store = ledger.store.rentals
        self._clock = clock
        self._rows: dict[str, Rental] = {}
        self._background = Background()
        self._writing = asyncio.Lock()

    async def load(self) -> None:
        """Take up what an earlier server wrote."""
        rows = await self._ledger.call(self._store.living)
        self._rows = {rental.token: rental for rental in rows}

    async def close(self) -> None:
        """Write nothing any more."""
        await self._background.close()

    @property
    def now(self) -> str:
        """The time, as rows have it."""
        return time_text(self._clock())

    def all(self) -> list[Rental]:
        """All of them, oldest first."""
        return sorted(self._rows.values(), key=lambda rental: rental.token)

    def get(self, token: str) -> Rental | None:
        """One of them, unless it has ended."""
        return self._rows.get(token)

    def of_cluster(self, cluster: str) -> list[Rental]:
        """All rows of a cluster: what it has, and what of it is still to be given back."""
        return [rental for rental in self.all() if rental.cluster == cluster]

    def current(self, cluster: str) -> Rental | None:
        """What a cluster has or is getting."""
        found = [row for row in self.of_cluster(cluster) if row.state not in ON_THE_WAY_OUT]
        return found[-1] if found else None

    async def lately(self, since: str) -> list[Rental]:
        """Those that have not ended, and those that ran and have ended since then."""
        return [*await self._ledger.call(self._store.ended, since), *self.all()]

    async def put(self, *rentals: Rental, forget: Iterable[str] = ()) -> None:
        """Write rows, and forget others, all or nothing.

        A SupersededError, and nothing is written, where a row cannot follow what it is by now.
        """
        # Shielded, since whoever waits may be cancelled, and what is written counts.
        await asyncio.shield(self._background.spawn(self._put(rentals, tuple(forget))))

    async def insist(self, *rentals: Rental, forget: Iterable[str] = ()) -> None:
        """Write what has happened already, as soon as it can be written."""
        backoff, gone = Backoff(), tuple(forget)
        while True:
            try:
                await self.put(*rentals, forget=gone)
            except DatabaseError as error:
                names = ", ".join(rental.cluster for rental in rentals)
                log.warning("what became of rented machines is written later: %s %s", names, error)
                await backoff.wait()
            else:
                return

    def soon(self, *rentals: Rental, forget: Iterable[str] = ()) -> "asyncio.Task[None]":
        """The same, without waiting for it."""
        return self._background.spawn(self.insist(*rentals, forget=forget))

    async def update(self, before: Rental, after: Rental) -> None:
        """Write a row, if it is still what it was."""
        await asyncio.shield(self._background.spawn(self._put([after], (), before)))

    async def _put(
        self, rentals: Sequence[Rental], forget: Sequence[str], before: Rental | None = None
    ) -> None:
        async with self._writing:
            if not all(map(self._may_follow, rentals)):
                raise SupersededError
            if before is not None and self._rows.get(before.token) != before:
                raise SupersededError
            await self._write(rentals, forget)

    def _may_follow(self, rental: Rental) -> bool:
        now = self._rows.get(rental.token)
        if now is None:
            return rental.state in _FIRST
        return rental.state in (now.state, *FOLLOWING[now.state])

    async def _write(self, rentals: Sequence[Rental], forget: Sequence[str]) -> None:
        rows = [replace(rental, changed=self.now) for rental in rentals]
        writing = self._ledger.call(self._store.change, rows, forget)
        await self._ledger.settled(writing, partial(self._is_written, rows, forget))
        for row in rows:
            if row.state is RentalState.ENDED:
                self._rows.pop(row.token, None)
            else:
                self._rows[row.token] = row
        for token in forget:
            self._rows.pop(token, None)

    def _is_written(self, rows: Sequence[Rental], forget: Sequence[str]) -> bool:
        living = {rental.token: rental for rental in self._store.living()}
        lasting = [row for row in rows if row.state is not RentalState.ENDED]
        gone = [*forget, *(row.token for row in rows if row.state is RentalState.ENDED)]
        return all(living.get(row.token) == row for row in lasting) and not set(gone) & set(living)
