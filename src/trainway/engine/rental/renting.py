"""One request for machines: the best offer that is left, until a cloud really gives it.

An attempt is a row of its own. When it fails, one write ends its row and begins the next, so that
what a cloud may have made for the first is given back whatever happens.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from trainway.engine.rental.blocking import block, only_there, reason_against
from trainway.engine.rental.book import RentalBook, SupersededError
from trainway.engine.rental.choice import Chosen, choose, taken
from trainway.engine.rental.context import RentalContext
from trainway.engine.rental.errors import NoOfferError
from trainway.engine.rental.interruption import REMEMBERED, avoided
from trainway.engine.rental.record import Attempt, Rental, RentalState, request_text
from trainway.engine.rental.steps import TRIES, Steps
from trainway.engine.rental.terms import Terms
from trainway.engine.times import time_text
from trainway.errors import ConflictError, NotFoundError
from trainway.optimizer.request import Block, TaskRequest
from trainway.providers.base import Ability, GangRequest, Place, Provider
from trainway.providers.errors import ProviderError, Scope, Trouble
from trainway.providers.section import CloudSettings

log = logging.getLogger(__name__)

Told: TypeAlias = Callable[[Rental], Awaitable[None]]

LONGEST_HISTORY: Final = 50
"""How many attempts a row remembers; the latest count."""
_FIRST_ROUND_S: Final = 30.0
_LONGEST_ROUND_S: Final = 600.0
"""The pauses of `retry_until_up` between two rounds of all offers."""
_FIRST_PAUSE_S: Final = 1.0
_SHOWN: Final = 3


@dataclass(frozen=True)
class Wanted:
    """What is wanted, and for whom."""

    cluster: str
    task: TaskRequest
    terms: Terms
    told: Told | None = None
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when somebody changes his mind while offers are waited for."""


@dataclass
class Renting:
    """Looks for machines for one cluster."""

    around: RentalContext
    book: RentalBook
    steps: Steps
    wanted: Wanted
    row: Rental = field(init=False)
    _blocks: list[Block] = field(default_factory=list)
    _good: set[str] = field(default_factory=set)
    """The clouds whose credentials are known to be good."""

    async def rent(self, before: Sequence[Attempt] = ()) -> Rental:
        """Machines that run; NoOfferError says what was tried for them."""
        stale = [
            each.token
            for each in self.book.of_cluster(self.wanted.cluster)
            if each.state is RentalState.PLANNED
        ]
        self.row = self._planned(before)
        await self.book.put(self.row, forget=stale)
        try:
            return await self._rounds()
        except SupersededError:
            self._give_up()
            raise _given_back(self.row) from None
        except Exception:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """Leave nothing behind, as soon as that can be written."""
        now = self.book.get(self.row.token)
        if now is None:
            return
        if now.state is RentalState.PLANNED:
            self.book.soon(forget=[now.token])
        elif now.state is RentalState.CREATING:
            self.steps.undo(now)

    def _planned(self, history: Sequence[Attempt]) -> Rental:
        return Rental(
            cluster=self.wanted.cluster,
            token=self.around.ids.new(),
            nodes=max(each.nodes for each in self.wanted.task.requests),
            history=tuple(history[-LONGEST_HISTORY:]),
            created=self.book.now,
        )

    async def _rounds(self) -> Rental:
        pause_s = _FIRST_ROUND_S
        while True:
            try:
                chosen = await self._choose()
            except NotFoundError as error:
                if not self.row.history:
                    raise  # the catalog has nothing of the kind, now and later
                if not self.wanted.terms.retry_until_up:
                    raise _nothing_left(self.row) from error
                await self._wait_for_the_next_round(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_ROUND_S)
                continue
            found = await self._try(chosen)
            if found is not None:
                return found

    async def _choose(self) -> Chosen:
        clouds = await self.around.clouds.work(self.around.clouds.names)
        if avoided := await self._avoided():
            with suppress(NotFoundError):  # then what is avoided is better than nothing
                return await self._best(clouds, [*self._blocks, *avoided])
        return await self._best(clouds, self._blocks)

    async def _best(self, clouds: Collection[str], blocks: Sequence[Block]) -> Chosen:
        wanted = (self.wanted.task, self.wanted.terms, clouds, tuple(blocks))
        used = taken(self.book.all())
        return await self.around.clouds.work(choose, self.around.catalog, *wanted, used)

    async def _avoided(self) -> list[Block]:
        """Offers of which spot machines were taken lately."""
        if not any(each.spot for each in self.wanted.task.requests):
            return []
        now = self.around.clock()
        return avoided(await self.book.lately(time_text(now - REMEMBERED)), now)

    async def _wait_for_the_next_round(self, pause_s: float) -> None:
        message = f"no cloud has room now; all offers are tried again in {pause_s:g} s"
        self.row = replace(self.row, message=message)
        await self.book.put(self.row)
        await self._tell()
        await self._sleep(pause_s)
        self._check()
        self._blocks.clear()
        self._good.clear()

    async def _sleep(self, pause_s: float) -> None:
        """Let seconds pass, unless somebody wakes us."""
        ways = [
            asyncio.ensure_future(self.around.pause(pause_s)),
            asyncio.ensure_future(self.wanted.wake.wait()),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()

    async def _try(self, chosen: Chosen) -> Rental | None:
        """Rent an offer; None: it cannot be had, and is blocked now."""
        try:
            await self._check_offer(chosen)
            self._check()
            request = await self._request(chosen)
        except ProviderError as error:
            self._block(chosen, error)
            self.row = replace(self.row, history=self._history(chosen, error))
            await self._tell()
            return None
        self.row = self.row.followed_by(
            RentalState.CREATING,
            **chosen.columns(),
            request=request_text(request),
            message="",
        )
        await self.book.put(self.row)
        await self._tell()
        try:
            return await self._create()
        except ProviderError as error:
            await self._failed(chosen, error)
            return None

    async def _check_offer(self, chosen: Chosen) -> None:
        """See whether a cloud can be asked for an offer; a ProviderError says why not."""
        clouds, cloud = self.around.clouds, chosen.cloud
        provider = await clouds.provider(cloud)
        missing = provider.missing()
        reason = reason_against(
            cloud,
            missing,
            _terms_of(self.wanted.terms, chosen),
            nodes=chosen.nodes,
            spot=chosen.spot,
        )
        if reason is not None:
            raise ProviderError(
                reason, trouble=Trouble.INVALID, scope=Scope.CLOUD, spot_only=chosen.spot
            )
        if cloud not in self._good:
            await self._check_credentials(provider)
            self._good.add(cloud)
        if Ability.QUOTA not in missing and not chosen.reservation:
            await self._check_quota(provider, chosen)

    async def _check_credentials(self, provider: Provider) -> None:
        try:
            await self.around.clouds.call(provider.check)
        except ProviderError as error:
            error.scope = Scope.CLOUD  # without them nothing else works there
            raise

    async def _check_quota(self, provider: Provider, chosen: Chosen) -> None:
        place, kind = Place(chosen.region, chosen.zone), chosen.instance_type
        try:
            left = await self.around.clouds.call(provider.quota, place, kind, spot=chosen.spot)
        except ProviderError as error:
            log.info("the quota of %s in %s is not known: %s", kind, place.region, error)
            return
        if left is not None and left < chosen.nodes:
            raise ProviderError(
                f"the quota of {chosen.cloud} in {place.region} has room for {left} more {kind},"
                f" and {chosen.nodes} are needed",
                trouble=Trouble.QUOTA,
                scope=Scope.REGION,
            )

    async def _request(self, chosen: Chosen) -> GangRequest:
        terms = self.wanted.terms
        return GangRequest(
            token=self.row.token,
            owner=await self.around.clouds.work(self.around.owner),
            cluster=self.wanted.cluster,
            place=Place(chosen.region, chosen.zone),
            instance_type=chosen.instance_type,
            count=chosen.nodes,
            public_key=terms.public_key,
            spot=chosen.spot,
            accelerator=chosen.accelerator,
            accelerator_count=chosen.accelerator_count,
            image=terms.images.get(chosen.region, terms.image),
            disk_gib=terms.disk_gib,
            disk_tier=terms.disk_tier,
            ports=tuple(terms.ports),
            reservation=chosen.reservation or terms.reservation,
            ends_by_shutdown=terms.ends_by_shutdown,
            labels=dict(terms.labels),
            settings=dict((terms.settings.get(chosen.cloud) or CloudSettings()).values),
        )

    async def _create(self) -> Rental:
        """Ask the cloud, again if it does not answer: it knows the token."""
        pause_s = _FIRST_PAUSE_S
        for tried in range(TRIES):
            try:
                row = await self.steps.take(self.row)
            except ProviderError as error:
                if error.scope is not Scope.NONE or tried == TRIES - 1:
                    raise
                await self.around.pause(pause_s)
                pause_s *= 2
            else:
                break
        if row.state is not RentalState.RUNNING:
            raise _given_back(self.row)
        self.row = row
        await self._tell()
        return row

    async def _failed(self, chosen: Chosen, error: ProviderError) -> None:
        """Give back what there may be of an attempt, and plan the next, in one write."""
        self._check()
        self._block(chosen, error)
        ending = self.row.followed_by(RentalState.ENDING, message=error.sentence)
        self.row = self._planned(self._history(chosen, error))
        await self.book.insist(ending, self.row)
        self.steps.persist(ending.token)
        await self._tell()

    def _history(self, chosen: Chosen, error: ProviderError) -> tuple[Attempt, ...]:
        attempt = replace(
            chosen.attempt(), error=error.sentence, scope=error.scope, at=self.book.now
        )
        self.around.clouds.refusals.append(attempt)
        return (*self.row.history, attempt)[-LONGEST_HISTORY:]

    def _block(self, chosen: Chosen, error: ProviderError) -> None:
        attempt = chosen.attempt()
        gpus = (chosen.accelerator, chosen.accelerator_count)
        self._blocks.append(block(attempt, error, gpus) or only_there(attempt))

    async def _tell(self) -> None:
        if self.wanted.told is None:
            return
        try:
            await self.wanted.told(self.row)
        except Exception:
            log.exception("cluster %s: a step of its rental is not told", self.wanted.cluster)

    def _check(self) -> None:
        """Go on only while somebody wants the machines."""
        now = self.book.get(self.row.token)
        is_changed = now is None or now.state is not self.row.state
        if is_changed or self.wanted.wake.is_set():
            raise _given_back(self.row)


def _terms_of(terms: Terms, chosen: Chosen) -> Terms:
    """The terms, with what the offer is taken out of."""
    return replace(terms, reservation=chosen.reservation or terms.reservation)


def _given_back(row: Rental) -> ConflictError:
    return ConflictError(
        f"cluster {row.cluster} was taken down while its machines were rented",
        hint="launch it again if it is wanted after all",
    )


def _nothing_left(row: Rental) -> NoOfferError:
    reasons = list(dict.fromkeys(attempt.error for attempt in reversed(row.history)))
    told = "; ".join(reversed(reasons[:_SHOWN]))
    count = len(row.history)
    tried = "1 offer was tried" if count == 1 else f"{count} offers were tried"
    return NoOfferError(
        f"no cloud has given the machines of cluster {row.cluster}: {tried}: {told}",
        row.history,
        hint="use --retry-until-up to go on trying, or ask for less",
    )
