"""What the machines of a cluster cost, by when each of them ran. Pure.

The ledger of rentals says when; so what a cluster has cost can be told anew at any time, after a
kill too, and one machine of a gang that is taken ends to cost something before the others do.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.costs.rate import Columns, Rate, rates_of
from trainway.engine.rental.record import Rental


@dataclass(frozen=True)
class Span:
    """A time in which one machine cost something."""

    start: str
    end: str
    """Empty: it still does."""
    hourly: Decimal
    on_demand: Decimal | None
    """What an hour of it costs on demand; None: it is not cheaper than that."""
    rental: Rental

    def holds(self, at: str) -> bool:
        """Whether it costs something just after a moment."""
        return self.start <= at and (not self.end or at < self.end)


def metered(record: ClusterRecord, rentals: Iterable[Rental]) -> Columns:
    """The columns of a cluster that has, or had, these machines; empty: they stay.

    What an earlier version wrote of the time before them is kept.
    """
    spans = [span for rental in rentals for span in _spans(rental)]
    if not spans:
        return {}
    moments = sorted({at for span in spans for at in (span.start, span.end) if at})
    known = rates_of(record.rates)
    rates = [each for each in known if each.since < moments[0]]
    for at in moments:
        rate = _rate(at, [span for span in spans if span.holds(at)], record.backend)
        if not rates or replace(rate, since=rates[-1].since) != rates[-1]:
            rates.append(rate)
    if tuple(rates) == known:
        return {}
    return {"rates": json.dumps([each.to_dict() for each in rates])}


def _spans(rental: Rental) -> Iterator[Span]:
    full = Decimal(rental.on_demand_price) / rental.nodes if rental.on_demand_price else None
    for machine in rental.machines:
        start = machine.launched or rental.created  # an earlier version did not write it
        for begin, end in (*machine.before, (start, machine.ended)):
            if not end or begin < end:
                yield Span(begin, end, rental.price / rental.nodes, full, rental)


def _rate(since: str, spans: Sequence[Span], place: str) -> Rate:
    if not spans:
        return Rate(since, Decimal(0), place, is_rented=True)
    last = max(spans, key=lambda span: span.start).rental
    hourly = sum((span.hourly for span in spans), start=Decimal(0))
    full = sum((span.on_demand or span.hourly for span in spans), start=Decimal(0))
    return Rate(
        since=since,
        hourly=hourly,
        place=place,
        nodes=len(spans),
        is_rented=True,
        infra=last.infra,
        instance_type=last.instance_type,
        is_spot=last.spot,
        on_demand=full if full != hourly else None,
    )
