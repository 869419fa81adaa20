"""All machines that this server rents of clouds.

What is wanted is written down before a cloud is asked for it, so a server may be killed at any
moment: the next one finishes what was begun, or undoes it.
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from trainway.engine.rental.record import Rental
from trainway.engine.rental.sweep import SweepReport
from trainway.engine.rental.terms import Terms
from trainway.engine.rental.watch import RentalChange
from trainway.optimizer.request import TaskRequest

Told: TypeAlias = Callable[[Rental], Awaitable[None]]


class Rentals:
    """The rentals of one server, of which each cluster has at most one."""

    async def start(self) -> None:
        """Take up what an earlier server began; what was half done is finished or undone."""
        raise NotImplementedError

    async def close(self) -> None:
        """Look after them no more; the next server does."""
        raise NotImplementedError

    async def rent(
        self, cluster: str, wanted: TaskRequest, terms: Terms, told: Told | None = None
    ) -> Rental:
        """Rent machines for a cluster, at the best offer that a cloud really gives.

        What the cluster has already is returned as it is; a request that is under way is joined.
        A NoOfferError says what was tried. `told` hears of every step.
        """
        raise NotImplementedError

    async def stop(self, cluster: str) -> Rental:
        """Stop its machines; they keep their disks."""
        raise NotImplementedError

    async def resume(self, cluster: str) -> Rental:
        """Start stopped machines again; their addresses may be others."""
        raise NotImplementedError

    async def end(self, cluster: str) -> Rental | None:
        """Give back all that a cluster has; None: it has nothing."""
        raise NotImplementedError

    def find(self, cluster: str) -> Rental | None:
        """What a cluster has, or is getting."""
        raise NotImplementedError

    def all(self) -> list[Rental]:
        """All rentals that have not ended, oldest first."""
        raise NotImplementedError

    def subscribe(self, heard: Callable[[RentalChange], Awaitable[None]]) -> None:
        """Be told what happens to machines without us."""
        raise NotImplementedError

    async def look(self) -> list[RentalChange]:
        """Ask the clouds what has become of all machines, and tell who subscribes."""
        raise NotImplementedError

    async def sweep(self, *, dry_run: bool) -> SweepReport:
        """End, or only list, what carries the id of this server and is in no row of the ledger."""
        raise NotImplementedError
