"""Machines that are rented for a job cost from when they are there until they are gone."""

from decimal import Decimal

from trainway.engine.costs.cost import by_attempt, pieces, total
from trainway.engine.costs.rate import rates_of
from trainway.engine.costs.rating import rated
from trainway.engine.costs.rental import Rental, rented, returned
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord

JOB = JobRecord(id="1", name="a", namespace="b", kind="JobSet", backend="aws", phase=Phase.RUNNING)
SPOT = Rental("aws/us-east-1/us-east-1a", "p4d", 2, Decimal("1.25"), True, Decimal("4"))


def test_rented_machines() -> None:
    record = JOB.with_columns(rented(JOB, SPOT, "2026-11-15T05:00:00Z"))
    assert rated(record, {"aws": 7}, "2026-11-15T05:01:00Z") == {}  # nobody else says its price
    gone = record.with_columns(returned(record, "2026-11-15T07:00:00Z"))
    assert returned(gone, "2026-11-15T08:00:00Z") == {}
    again = gone.with_columns({"attempt": 1})
    last = again.with_columns(rented(again, SPOT, "2026-11-15T09:00:00Z"))
    found = pieces(rates_of(last.rates), [], "2026-11-15T10:00:00Z")
    assert (total(found).spent, total(found).saved) == (Decimal("7.5"), Decimal("16.5"))
    spent = {attempt: cost.spent for attempt, cost in by_attempt(found).items()}
    assert spent == {0: Decimal(5), 1: Decimal("2.5")}
    assert returned(JOB, "2026-11-15T10:00:00Z") == {}
