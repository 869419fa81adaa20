"""What clusters spend of budgets: their own (`launch --max-cost`), and those of months.

A cluster costs its price whatever runs on it, so it is the cluster that is taken down when all is
spent: one that is stopped would still cost its disks. That somebody was told is written together
with what is told; a server that is killed afterwards finds that all is spent, and takes the cluster
down without telling it twice.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Final, Protocol

from trainway.engine.background import Background
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.costs.budget import (
    Budget,
    JobBudget,
    Standing,
    hours_left,
    money,
    standing,
)
from trainway.engine.costs.cluster_bill import runs_of
from trainway.engine.costs.cost import pieces, total
from trainway.engine.costs.rate import rates_of
from trainway.engine.notify.outbox import NewNotice
from trainway.engine.times import time_text
from trainway.errors import TrainwayError

log = logging.getLogger(__name__)

_GRACE_S: Final = 60.0
"""How long jobs of a cluster may take to end before it is taken down."""

Tell = Callable[[str], Sequence[NewNotice]]
"""What is to be told to whom of a budget, of which something is said."""


class SpendingClusters(Protocol):
    """The clusters, as far as budgets are concerned."""

    def spending(self) -> Sequence[ClusterRecord]:
        """All that there are."""
        ...

    async def note_budget(
        self, name: str, budget: str, tell: Callable[[], Sequence[NewNotice]]
    ) -> None:
        """Write how the budget of one stands, together with what is told of it, or nothing."""
        ...

    async def take_down(self, record: ClusterRecord) -> None:
        """Give back all that one has; the worker pool too, where it is a worker of one."""
        ...


class ClusterBudgets:
    """The budgets that clusters spend."""

    def __init__(
        self,
        clock: Callable[[], datetime],
        clusters: SpendingClusters,
        tell: Tell,
        end_jobs: Callable[[str, str], Awaitable[None]],
    ) -> None:
        """`end_jobs` ends all jobs of a backend, and waits until they are over."""
        self._clock = clock
        self._clusters = clusters
        self._tell = tell
        self._end_jobs = end_jobs
        self._background = Background()
        self._ending: set[str] = set()

    async def close(self) -> None:
        """Leave the rest to the next server."""
        await self._background.close()

    def spent(self, budget: Budget, begin: datetime) -> Decimal:
        """What clusters that are there have cost since a moment."""
        return sum(
            (self._cost(record, begin) for record in self._covered(budget)), start=Decimal(0)
        )

    def hourly(self, budget: Budget) -> Decimal:
        """What an hour of them costs now."""
        return sum((hourly_of(record) for record in self._covered(budget)), start=Decimal(0))

    def end(self, budget: Budget, why: str) -> None:
        """Take down all that spend a budget of which nothing is left."""
        for record in self._covered(budget):
            self._end(record, why)

    async def look(self) -> Decimal | None:
        """See to clusters with a budget of their own; the hours until one may stand otherwise."""
        left = [
            await self._look_at(record, budget)
            for record in self._clusters.spending()
            if (budget := JobBudget.of(record.budget)) is not None
        ]
        return min((hours for hours in left if hours is not None), default=None)

    async def _look_at(self, record: ClusterRecord, budget: JobBudget) -> Decimal | None:
        spent = self._cost(record)
        found = standing(spent, budget.limit)
        said = f"cluster {record.name} has cost {money(spent)} of {money(budget.limit)}"
        now = time_text(self._clock())
        if found is Standing.SPENT:
            said += ", which is all that it may, and is taken down"
            if not budget.ended:
                after = replace(budget, warned=budget.warned or now, ended=now)
                await self._note(record, after, said)
            self._end(record, said)
        elif found is Standing.NEAR and not budget.warned:
            await self._note(record, replace(budget, warned=now), said)
        return hours_left(spent, budget.limit, hourly_of(record))

    async def _note(self, record: ClusterRecord, after: JobBudget, said: str) -> None:
        log.warning("%s", said)
        await self._clusters.note_budget(record.name, after.text(), partial(self._tell, said))

    def _end(self, record: ClusterRecord, why: str) -> None:
        """Take one down beside everything else; what fails is tried again at the next look."""
        if record.id not in self._ending:
            self._ending.add(record.id)
            self._background.spawn(self._take_down(record, why))

    async def _take_down(self, record: ClusterRecord, why: str) -> None:
        try:
            try:
                async with asyncio.timeout(_GRACE_S):
                    await self._end_jobs(record.backend, why)
            except TimeoutError:
                log.warning("cluster %s is taken down while jobs still end", record.name)
            await self._clusters.take_down(record)
        except TrainwayError as error:
            log.warning("cluster %s is taken down later: %s", record.name, error)
        finally:
            self._ending.discard(record.id)

    def _covered(self, budget: Budget) -> Iterable[ClusterRecord]:
        return [each for each in self._clusters.spending() if budget.covers(each.label_map)]

    def _cost(self, record: ClusterRecord, begin: datetime | None = None) -> Decimal:
        until = time_text(self._clock())
        return total(pieces(rates_of(record.rates), runs_of(record), until), begin).spent


def hourly_of(record: ClusterRecord) -> Decimal:
    """What one costs now: rented machines all the time, own ones while they are up."""
    rates, runs = rates_of(record.rates), runs_of(record)
    if not rates or not (rates[-1].is_rented or (runs and "end" not in runs[-1])):
        return Decimal(0)
    return rates[-1].hourly
