"""All machines that this server rents of clouds.

What is wanted is written down before a cloud is asked for it, so a server may be killed at any
moment: the next one finishes what was begun, or undoes it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias, TypeVar

from trainway.engine.background import Background
from trainway.engine.rental.book import RentalBook, SupersededError
from trainway.engine.rental.choice import Chosen, choose, taken
from trainway.engine.rental.clouds import Checked
from trainway.engine.rental.context import RentalContext
from trainway.engine.rental.interruption import Interruption, interruption
from trainway.engine.rental.record import IN_THE_MAKING, Rental, RentalState
from trainway.engine.rental.renting import Renting, Told, Wanted
from trainway.engine.rental.report import refusals
from trainway.engine.rental.steps import Steps
from trainway.engine.rental.sweep import Sweeper, SweepReport
from trainway.engine.rental.terms import Terms
from trainway.engine.rental.vetting import Vetting
from trainway.engine.rental.watch import RentalChange
from trainway.engine.rental.watcher import Watcher
from trainway.errors import ConflictError, NotFoundError
from trainway.json_types import Json
from trainway.optimizer.request import TaskRequest
from trainway.providers.abilities import shutdown_effect
from trainway.providers.base import Ability, JobCredentials, LendsCredentials, MachineState, Notice
from trainway.providers.errors import ProviderError

T = TypeVar("T")
Heard: TypeAlias = Callable[[RentalChange], Awaitable[None]]

_ASKING_S: Final = 30.0
"""How long a cloud is asked what became of machines before somebody else judges it."""
_GOES_ON: Final = "the server goes on trying; trainway status shows what comes of it"


class Rentals:
    """The rentals of one server, of which each cluster has at most one."""

    def __init__(self, around: RentalContext) -> None:
        self._around = around
        self._book = RentalBook(around.ledger, around.clock)
        self._steps = Steps(around, self._book)
        self._watcher = Watcher(around, self._book, self._steps)
        self._vetting = Vetting(around, self._book)
        self._background = Background()
        self._renting: dict[str, asyncio.Task[Rental]] = {}
        self._wakes: dict[str, asyncio.Event] = {}
        """Set when what a request looks for is not wanted any more."""

    async def start(self) -> None:
        """Take up what an earlier server began; what was half done is finished or undone.

        Machines that were being made are finished, unless their cloud refuses. Whoever wanted
        them asks for them again: `rent` then joins in, or tries elsewhere.
        """
        await self._book.load()
        for rental in self._book.all():
            if rental.state is RentalState.PLANNED:
                self._book.soon(forget=[rental.token])  # nothing was asked of a cloud yet
            else:
                self._steps.persist(rental.token)
        self._watcher.watch()

    async def close(self) -> None:
        """Look after them no more; the next server does."""
        await self._background.close()
        await self._watcher.close()
        await self._steps.close()
        await self._book.close()
        self._around.clouds.close()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is rented that runs or changes."""
        return all(rental.state is RentalState.STOPPED for rental in self._book.all())

    def find(self, cluster: str) -> Rental | None:
        """What a cluster has, or is getting."""
        return self._book.current(cluster)

    def all(self) -> list[Rental]:
        """All rentals that have not ended, oldest first."""
        return self._book.all()

    async def all_of(self, cluster: str, since: str) -> list[Rental]:
        """All that a cluster has or had since then, oldest first."""
        ledger = self._around.ledger
        return await ledger.call(ledger.store.rentals.of_cluster, cluster, since)

    async def taken(self, cluster: str, since: str) -> Interruption | None:
        """That a cloud takes, or has taken, machines of a cluster since then; None: it has not.

        Where machines still count as running, their cloud is asked first, if it answers in time.
        """
        known = self._book.current(cluster)
        if known is not None and known.state is RentalState.RUNNING and not interruption(known):
            asked = self._background.spawn(self.look())  # which is not broken off
            for done in (await asyncio.wait([asked], timeout=_ASKING_S))[0]:
                done.result()
        rentals = await self.all_of(cluster, since)
        return interruption(rentals[-1]) if rentals else None

    async def rent(
        self, cluster: str, wanted: TaskRequest, terms: Terms, told: Told | None = None
    ) -> Rental:
        """Rent machines for a cluster, at the best offer that a cloud really gives.

        What the cluster has already is returned as it is; a request that is under way is joined.
        A NoOfferError says what was tried. `told` hears of every step.
        """
        if cluster not in self._renting:
            wake = self._wakes[cluster] = asyncio.Event()
            task = self._background.spawn(self._rent(Wanted(cluster, wanted, terms, told, wake)))
            self._renting[cluster] = task
            task.add_done_callback(lambda _: self._rented(cluster))
        return await asyncio.shield(self._renting[cluster])

    def _rented(self, cluster: str) -> None:
        del self._renting[cluster], self._wakes[cluster]

    async def _rent(self, wanted: Wanted) -> Rental:
        known = self._book.current(wanted.cluster)
        if known is not None and known.state is RentalState.CREATING:
            await self._steps.persist(known.token)  # an earlier server has begun it
            history = known.history
            known = self._book.current(wanted.cluster)
        else:
            history = ()
        if known is not None and known.state not in IN_THE_MAKING:
            return known
        rental = await Renting(self._around, self._book, self._steps, wanted).rent(history)
        self._watcher.watch()
        return rental

    async def offer(self, wanted: TaskRequest, terms: Terms) -> Chosen:
        """What would be tried first; NotFoundError: no cloud offers anything of the kind."""
        clouds, work = self._around.clouds, self._around.clouds.work
        names, used = await work(clouds.names), taken(self._book.all())
        return await work(choose, self._around.catalog, wanted, terms, names, (), used)

    async def usable_offer(self, wanted: TaskRequest, terms: Terms) -> Chosen:
        """The same of clouds whose credentials are good; raises also why none can be used."""
        return await self._vetting.offer(wanted, terms)

    async def stop(self, cluster: str) -> Rental:
        """Stop its machines; they keep their disks."""
        rental = self._current(cluster)
        if rental.state is RentalState.STOPPED:
            return rental
        if why := await self.why_not_stopped(cluster):
            raise ConflictError(
                f"cluster {cluster} cannot be stopped: {why}",
                hint=f"use trainway down {cluster} to give its machines back",
            )
        return await self._beside(self._wish(rental, RentalState.RUNNING, RentalState.STOPPING))

    async def why_not_stopped(self, cluster: str) -> str:
        """Why the machines of a cluster cannot be stopped; empty: they can, or there are none."""
        rental = self._book.current(cluster)
        if rental is None or rental.state in IN_THE_MAKING:
            return ""
        provider = await self._around.clouds.provider(rental.cloud)
        return provider.missing().get(Ability.STOP) or ""

    async def shutdown_effect(self, rental: Rental) -> MachineState | None:
        """What becomes of machines that shut themselves down; None: they cost as much as before."""
        provider = await self._around.clouds.provider(rental.cloud)
        ends = rental.gang.ends_by_shutdown
        return shutdown_effect(provider.missing(), ends=ends, spot=rental.spot)

    async def job_credentials(
        self, rental: Rental, settings: Mapping[str, str]
    ) -> JobCredentials | None:
        """What jobs there may use for a while; None: nothing."""
        clouds = self._around.clouds
        provider = await clouds.provider(rental.cloud)
        if not isinstance(provider, LendsCredentials):
            return None
        return await clouds.call(provider.job_credentials, settings, rental.cluster)

    async def resume(self, cluster: str) -> Rental:
        """Start stopped machines again; their addresses may be others."""
        rental = self._current(cluster)
        if rental.state is RentalState.RUNNING:
            return rental
        return await self._beside(self._wish(rental, RentalState.STOPPED, RentalState.STARTING))

    async def end(self, cluster: str) -> Rental | None:
        """Give back all that a cluster has, also what is being rented; None: it has nothing."""
        request = self._renting.get(cluster)
        if request is asyncio.current_task():
            request = None  # it cannot wait for itself
        return await self._beside(self._end(cluster, request))

    async def _end(self, cluster: str, request: "asyncio.Task[Rental] | None") -> Rental | None:
        if request is not None:
            self._wakes[cluster].set()  # its machines are not wanted any more
        found = await self._end_rows(cluster)
        if request is not None:
            await asyncio.wait([request])
            found += await self._end_rows(cluster)  # what it wrote at the same moment
        return found[-1] if found else None

    async def _end_rows(self, cluster: str) -> list[Rental]:
        while living := [
            row for row in self._book.of_cluster(cluster) if row.state is not RentalState.ENDING
        ]:
            ending = [row.followed_by(RentalState.ENDING, message="") for row in living]
            with suppress(SupersededError):  # one of them is gone, or another one is there
                await self._book.put(*ending)
        rows = self._book.of_cluster(cluster)
        found = await asyncio.gather(*map(self._carry, rows), return_exceptions=True)
        failures = [each for each in found if isinstance(each, BaseException)]
        if failures:
            raise failures[0]
        return [each for each in found if isinstance(each, Rental)]

    def _current(self, cluster: str) -> Rental:
        rental = self._book.current(cluster)
        if rental is None:
            raise NotFoundError(
                f"cluster {cluster} has no rented machines", hint="trainway status shows clusters"
            )
        return rental

    async def _wish(self, rental: Rental, before: RentalState, wish: RentalState) -> Rental:
        """Write what is wanted, and do it."""
        if rental.state is before:
            with suppress(SupersededError):  # what it is instead is said below
                await self._book.put(rental.followed_by(wish, message=""))
        self._watcher.watch()
        now = self._book.get(rental.token)
        if now is None or now.state is not wish:
            state = RentalState.ENDED if now is None else now.state
            raise ConflictError(
                f"cluster {rental.cluster} is {state} now",
                hint="wait until that is done, and ask again",
            )
        return await self._carry(now)

    async def _beside(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something, whoever goes away meanwhile: what is written must be done."""
        return await asyncio.shield(self._background.spawn(work))

    async def _carry(self, rental: Rental) -> Rental:
        try:
            return await self._steps.take(rental)
        except ProviderError as error:
            if self._steps.is_refused(rental, error):
                await self._steps.refuse(rental, error)
            else:
                self._steps.persist(rental.token)
                error.hint = error.hint or _GOES_ON
            raise

    def subscribe(self, heard: Heard) -> None:
        """Be told what happens to machines without us."""
        self._watcher.subscribe(heard)

    async def look(self) -> list[RentalChange]:
        """Ask the clouds what has become of all machines, and tell who subscribes."""
        return await self._watcher.look()

    async def hear(self, cluster: str, notices: Sequence[Notice]) -> None:
        """Take in what machines of a cluster say themselves of being taken back."""
        await self._watcher.hear(cluster, notices)

    async def check(self) -> list[Checked]:
        """See who we are at each cloud, all at once."""
        names = await self._around.clouds.work(self._around.clouds.names)
        return list(await asyncio.gather(*map(self._around.clouds.check, names)))

    def refusals(self) -> list[Json]:
        """What clouds have refused lately, newest first."""
        return refusals(self._book.all(), self._around.clouds.refusals)

    async def sweep(self, *, dry_run: bool) -> SweepReport:
        """End, or only list, what carries the id of this server and is in no row of the ledger."""
        return await Sweeper(self._around, self._book).sweep(dry_run=dry_run)
