"""Jobs that are over and have cost something: what is kept of them, and their sums. Pure."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from trainway.engine.costs.budget import Budget
from trainway.engine.costs.cost import Piece, pieces
from trainway.engine.costs.rate import rates_of
from trainway.engine.queues.months import month_of, month_start

_Labels = tuple[tuple[str, str], ...]


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
    """What jobs that are over have cost in a month, by their labels."""

    _sums: dict[tuple[str, _Labels], Decimal] = field(default_factory=lambda: defaultdict(Decimal))

    def add(self, labels: Mapping[str, str], found: Iterable[Piece], now: datetime) -> None:
        """Count a job with what it has cost in the month that it is now."""
        begin = datetime.fromtimestamp(month_start(now.timestamp()), UTC)
        key = month_of(now.timestamp()), tuple(sorted(labels.items()))
        self._sums[key] += sum((piece.cost(begin).spent for piece in found), start=Decimal(0))

    def of(self, budget: Budget, now: datetime) -> Decimal:
        """What those have cost that spend a budget."""
        month = month_of(now.timestamp())
        found = (
            spent
            for (of, labels), spent in self._sums.items()
            if of == month and budget.covers(dict(labels))
        )
        return sum(found, start=Decimal(0))
