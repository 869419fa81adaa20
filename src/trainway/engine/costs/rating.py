"""Gives jobs their rates on own machines, by the prices of `config.yaml`.

What a job costs is written in the same transaction that gives it its place or its size, so that no
kill comes between them. A price that changes while a job runs counts from when it was read.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final

from trainway.backends.demand import Demand
from trainway.engine.background import Background
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.costs.cluster_bill import bill, billed, cost_view
from trainway.engine.costs.rate import Columns, Rate, rates_of, with_rate
from trainway.engine.costs.spent_job import SpentJob
from trainway.engine.ledger import Bills, Ledger
from trainway.engine.phases import LIVE, Phase
from trainway.engine.placement.prices import hourly_price
from trainway.engine.queue_entry import demand_of
from trainway.engine.record import JobRecord
from trainway.engine.stored_job import Change, StoredJob
from trainway.engine.times import time_text
from trainway.errors import DatabaseError
from trainway.families.builtin import HELD
from trainway.families.table import name_of
from trainway.json_types import Json

log = logging.getLogger(__name__)

Prices = Mapping[str, Any]
_EVERY_S: Final = 15.0
_RATED: Final = LIVE - {Phase.STOPPING}


def rated(record: JobRecord, prices: Prices, now: str) -> Columns:
    """The columns of a job whose rate is another one now; empty: it stays.

    Rented machines have their rate from whoever rented them, and a job on a launched cluster costs
    nothing by itself, since the cluster does.
    """
    rates = rates_of(record.rates)
    last = rates[-1] if rates else None
    if last is not None and last.is_rented and last.place == record.backend:
        return {}
    demand = demand_of(record.demand) if record.demand else Demand()
    is_held = name_of(record.backend) == HELD
    hourly = None if is_held else hourly_price(prices, record.backend, demand)
    if last is None and hourly is None:
        return {}
    if last is not None and (last.place, last.hourly) == (record.backend, hourly or Decimal(0)):
        return {}
    rate = Rate(now, hourly or Decimal(0), record.backend, demand.nodes)
    return with_rate(rates, rate)


class PricedClusters(Bills):
    """Clusters cost what the prices say while they are up."""

    def __init__(self, prices: Callable[[], Prices], now: Callable[[], str]) -> None:
        self._prices = prices
        self._now = now

    def columns(self, record: ClusterRecord) -> Columns:
        """As the prices are."""
        return billed(record, self._prices(), self._now())

    def spent(self, record: ClusterRecord) -> SpentJob | None:
        """Until now."""
        return bill(record, self._now())

    def view(self, record: ClusterRecord) -> Json:
        """As that of a job."""
        return cost_view(record)


class Rating:
    """Keeps the rates of all jobs that run as the prices are."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Callable[[], datetime],
        live: Mapping[str, StoredJob],
        prices: Callable[[], Prices],
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._live = live
        self._prices = prices
        self._known: Prices = {}
        self._background = Background()
        ledger.derived.append(self.columns)
        ledger.bills = PricedClusters(prices, self._now)

    def columns(self, before: JobRecord, after: JobRecord) -> Columns:
        """What a change of a job changes of its rates; most changes do not."""
        if after.phase not in _RATED or (
            before.phase in _RATED
            and (before.backend, before.demand) == (after.backend, after.demand)
        ):
            return {}
        return rated(after, self._prices(), self._now())

    async def start(self) -> None:
        """Begin to look at the prices; what they are now counts from now."""
        await self.look()
        self._background.spawn(self._watch())

    async def close(self) -> None:
        """Look no more."""
        await self._background.close()

    async def look(self) -> None:
        """Give jobs that run new rates, if the prices are other ones than before."""
        prices = await asyncio.to_thread(self._prices)
        if prices == self._known:
            return
        self._known = prices
        for live in list(self._live.values()):
            await live.insist(partial(self._repriced, live))
        for look in self._ledger.repriced:
            await look()

    def _repriced(self, live: StoredJob) -> Change | None:
        if live.record.phase not in _RATED:
            return None
        columns = rated(live.record, self._known, self._now())
        return Change(columns) if columns else None

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_EVERY_S)
            try:
                await self.look()
            except DatabaseError as error:
                log.warning("the prices count later: %s", error)

    def _now(self) -> str:
        return time_text(self._clock())
