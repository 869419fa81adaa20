"""What a rental does in each state that is not meant to last, until the next one is reached.

A server that starts does for each row what the row says; so does one that has just written it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from trainway.engine.background import Background
from trainway.engine.rental.book import RentalBook, SupersededError
from trainway.engine.rental.context import RentalContext
from trainway.engine.rental.gangs import Gangs
from trainway.engine.rental.record import Rental, RentalState, RentedMachine
from trainway.providers.errors import ProviderError, Scope

log = logging.getLogger(__name__)

_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 300.0
TRIES: Final = 5
"""How often a cloud is asked that does not answer, before something else is tried."""


@dataclass(frozen=True)
class Step:
    """What is done in a state, and what comes of it."""

    work: Callable[[Rental], Awaitable[Sequence[RentedMachine]]]
    reached: RentalState
    refused: RentalState | None
    """The state after a cloud has refused; None: it is asked again for as long as it takes."""


class Steps:
    """Does what rows say."""

    def __init__(self, around: RentalContext, book: RentalBook) -> None:
        self._around = around
        self._book = book
        gangs = Gangs(around, book)
        self._steps: Mapping[RentalState, Step] = {
            RentalState.CREATING: Step(gangs.create, RentalState.RUNNING, RentalState.ENDING),
            RentalState.STOPPING: Step(gangs.stop, RentalState.STOPPED, RentalState.RUNNING),
            RentalState.STARTING: Step(gangs.start, RentalState.RUNNING, RentalState.STOPPED),
            RentalState.ENDING: Step(gangs.give_back, RentalState.ENDED, None),
        }
        self._background = Background()
        self._persisting: dict[str, asyncio.Task[None]] = {}

    async def close(self) -> None:
        """Leave the rest to the next server."""
        await self._background.close()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being done."""
        return not self._persisting

    async def take(self, rental: Rental) -> Rental:
        """Do what a row says, once; the row after it, or what the cloud has said against it."""
        step = self._steps[rental.state]
        try:
            machines = await step.work(rental)
            return await self._note(rental, step.reached, machines)
        except SupersededError:
            return self._now(rental)

    def _now(self, rental: Rental) -> Rental:
        return self._book.get(rental.token) or replace(rental, state=RentalState.ENDED)

    async def _note(
        self, rental: Rental, state: RentalState, machines: Sequence[RentedMachine]
    ) -> Rental:
        """Write what has happened, unless something else is wanted by now."""
        now = self._now(rental)
        if now.state is not rental.state:
            return now
        after = now.followed_by(state, machines=tuple(machines), message="")
        if state is RentalState.ENDED and not machines:
            await self._book.insist(forget=[rental.token])  # it has never cost anything
        else:
            await self._book.insist(after)
        return self._book.get(rental.token) or after

    async def refuse(self, rental: Rental, error: ProviderError) -> Rental:
        """Write that a cloud has refused what a row says."""
        state = self._steps[rental.state].refused
        now = self._now(rental)
        if state is None or now.state is not rental.state:
            return now
        with suppress(SupersededError):
            await self._book.insist(now.followed_by(state, message=error.sentence))
        return self._now(rental)

    def undo(self, rental: Rental) -> None:
        """Give back what there may be of a rental that nobody waits for any more."""
        self._background.spawn(self._undo(rental))

    async def _undo(self, rental: Rental) -> None:
        with suppress(SupersededError):
            await self._book.insist(rental.followed_by(RentalState.ENDING))
        await self.persist(rental.token)

    def is_refused(self, rental: Rental, error: ProviderError) -> bool:
        """Whether it is of no use to ask for the same again."""
        return error.scope is not Scope.NONE and self._steps[rental.state].refused is not None

    def persist(self, token: str) -> "asyncio.Task[None]":
        """Do what a row says until it says nothing more, beside everything else."""
        if token not in self._persisting:
            task = self._background.spawn(self._persist(token))
            self._persisting[token] = task
            task.add_done_callback(lambda _: self._persisting.pop(token, None))
        return self._persisting[token]

    async def _persist(self, token: str) -> None:
        pause_s, tries = _FIRST_PAUSE_S, 0
        while (rental := self._book.get(token)) is not None and rental.state in self._steps:
            try:
                await self.take(rental)
            except ProviderError as error:
                tries += 1
                log.warning("cluster %s (%s): %s", rental.cluster, rental.place, error)
                is_long = tries >= TRIES and rental.state is RentalState.CREATING
                if is_long or self.is_refused(rental, error):
                    await self.refuse(rental, error)
                    continue
            else:
                continue
            await self._around.pause(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
