"""Gives jobs on rented machines credentials that expire soon, and others before they do.

Only where `config.yaml` asks for it. They go from the cloud to the machines through the agents, and
are never written down here: a server that starts gets new ones.
"""

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from trainway.engine.cluster.book import ClusterBook
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.rental.record import Rental, RentalState
from trainway.errors import TrainwayError
from trainway.providers.base import JobCredentials

log = logging.getLogger(__name__)

LOOK_S: Final = 60.0
_EARLY: Final = timedelta(minutes=30)
"""How long before they expire others are given: for so long a cloud may not answer."""

Get = Callable[[Rental], Awaitable[JobCredentials | None]]


class Lending:
    """What jobs of which cluster have, and until when."""

    def __init__(
        self, book: ClusterBook, get: Get, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._book = book
        self._get = get
        self._clock = clock
        self._expires: dict[str, datetime] = {}
        """By the token of a rental."""

    async def lend(self, record: ClusterRecord, rental: Rental) -> None:
        """Give the jobs of a cluster new ones, if they are to have any."""
        found = await self._get(rental)
        if found is None:
            self._expires.pop(rental.token, None)
            return
        given = {"files": dict(found.files), "variables": dict(found.variables)}
        await self._book.agents.ask(record.pool, "lend", record.name, **given)
        self._expires[rental.token] = found.expires

    async def renew(self, rentals: list[Rental]) -> None:
        """Give others to those whose time is nearly over, or not known: another server's."""
        running = [each for each in rentals if each.state is RentalState.RUNNING]
        known = {each.token for each in running}
        self._expires = {key: at for key, at in self._expires.items() if key in known}
        for rental in running:
            record = self._book.records.get(rental.cluster)
            expires = self._expires.get(rental.token)
            if record is None or (expires and expires - self._clock() > _EARLY):
                continue
            try:
                await self.lend(record, rental)
            except TrainwayError as error:
                log.warning("jobs of cluster %s get no credentials: %s", record.name, error)
            except Exception:
                log.exception("jobs of cluster %s get no credentials", record.name)
