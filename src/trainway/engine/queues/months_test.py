from trainway.engine.queues.gangs import seconds
from trainway.engine.queues.months import month_start, next_month


def test_months_begin_and_end() -> None:
    december = seconds("2026-12-31T23:59:59Z")
    assert month_start(december) == seconds("2026-12-01T00:00:00Z")
    assert next_month(december) == seconds("2027-01-01T00:00:00Z")
    assert next_month(seconds("2026-11-15T12:00:00Z")) == seconds("2026-12-01T00:00:00Z")
