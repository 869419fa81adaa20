"""The first offer of a cloud that can be used: what is known before anything is rented.

Where somebody asks what would be rented, or hands in a job, a cloud without credentials is told at
once. A cloud whose credentials were good is believed for a while.
"""

import asyncio
from typing import Final

from trainway.engine.rental.blocking import reason_against
from trainway.engine.rental.book import RentalBook
from trainway.engine.rental.choice import Chosen, choose, taken
from trainway.engine.rental.context import RentalContext
from trainway.engine.rental.terms import Terms
from trainway.errors import NotFoundError, UnavailableError
from trainway.optimizer.request import Block, TaskRequest
from trainway.providers.errors import ProviderError, Scope, Trouble

_BELIEVED_S: Final = 300.0
_PATIENCE_S: Final = 15.0
"""Less than whoever asks waits for the server."""


class UnusableCloudError(UnavailableError):
    """A cloud has what is wanted, and cannot be used."""

    code = "cloud"


class Vetting:
    """Sees whether clouds can be used."""

    def __init__(self, around: RentalContext, book: RentalBook) -> None:
        self._around = around
        self._book = book
        self._good: dict[str, float] = {}
        """When the credentials of each cloud were good, on the clock of the loop."""

    async def offer(self, wanted: TaskRequest, terms: Terms) -> Chosen:
        """The best offer of clouds that can be used; raises why there is none."""
        work = self._around.clouds.work
        names, blocks = await work(self._around.clouds.names), list[Block]()
        problem: UnusableCloudError | None = None
        while True:
            try:
                asked = (wanted, terms, names, tuple(blocks), taken(self._book.all()))
                chosen = await work(choose, self._around.catalog, *asked)
            except NotFoundError as error:
                raise problem or error from None
            try:
                await self._check(chosen, terms)
            except ProviderError as error:
                said = f"{chosen.cloud} cannot be used: {error.message}"
                hint = error.hint or f"trainway clouds check {chosen.cloud} says what is missing"
                problem = problem or UnusableCloudError(said, hint=hint)
                blocks.append(Block(chosen.cloud, spot=True if error.spot_only else None))
            else:
                return chosen

    async def _check(self, chosen: Chosen, terms: Terms) -> None:
        """Raise a ProviderError where a cloud cannot be asked for an offer."""
        cloud, now = chosen.cloud, asyncio.get_running_loop().time()
        provider = await self._around.clouds.provider(cloud)
        missing = provider.missing()
        reason = reason_against(cloud, missing, terms, nodes=chosen.nodes, spot=chosen.spot)
        if reason is not None:
            raise ProviderError(
                reason, trouble=Trouble.INVALID, scope=Scope.CLOUD, spot_only=chosen.spot
            )
        if now - self._good.get(cloud, -_BELIEVED_S) < _BELIEVED_S:
            return
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._around.clouds.call(provider.check)
        except TimeoutError:
            said = f"it does not answer within {_PATIENCE_S:g} seconds"
            raise ProviderError(said, trouble=Trouble.UNREACHABLE, scope=Scope.CLOUD) from None
        self._good[cloud] = now
