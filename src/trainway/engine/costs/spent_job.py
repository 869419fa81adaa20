"""Jobs that are over and have cost something: what is kept of them, and their sums. Pure."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from trainway.engine.costs.budget import Budget
from trainway.engine.costs.cost import Piece, pieces
from trainway.engine.costs.rate import rates_of
from trainway.engine.queues.months import month_of, month_start


@dataclass(frozen=True)
class SpentJob:
    """One row of `spent`, or what that would be. Fields that hold JSON are text."""

    job_id: str
    name: str
    backend: str
    labels: str
    demand: str
    runs: str
    rates: str
    finished: str

    @property
    def label_map(self) -> Mapping[str, str]:
        """The labels."""
        found: Mapping[str, str] = json.loads(self.labels)
        return found

    @property
    def pieces(self) -> list[Piece]:
        """The times that cost something."""
        return pieces(rates_of(self.rates), json.loads(self.runs), self.finished)


@dataclass
class MonthlySum:
    """What jobs that are over have cost in a month; each counts once, however often it is told."""

    _spent: dict[str, dict[str, tuple[Mapping[str, str], Decimal]]] = field(default_factory=dict)
    """The labels and costs of jobs, by month and id."""

    def add(
        self, job: str, labels: Mapping[str, str], found: Iterable[Piece], now: datetime
    ) -> None:
        """Count a job with what it has cost in the month that it is now.

        A deleted one that its backend still had is found again without labels: it keeps those that
        it had.
        """
        begin = datetime.fromtimestamp(month_start(now.timestamp()), UTC)
        spent = sum((piece.cost(begin).spent for piece in found), start=Decimal(0))
        jobs = self._spent.setdefault(month_of(now.timestamp()), {})
        if not labels and job in jobs:
            labels = jobs[job][0]
        jobs[job] = labels, spent

    def of(self, budget: Budget, now: datetime) -> Decimal:
        """What those have cost that spend a budget."""
        jobs = self._spent.get(month_of(now.timestamp()), {}).values()
        return sum((spent for labels, spent in jobs if budget.covers(labels)), start=Decimal(0))
