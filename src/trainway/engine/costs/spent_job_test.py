"""What jobs that are over have cost counts once, for whoever had them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from trainway.engine.costs.budget import Budget
from trainway.engine.costs.cost import Piece
from trainway.engine.costs.rate import Rate
from trainway.engine.costs.spent_job import MonthlySum

NOW = datetime(2026, 11, 15, 5, tzinfo=UTC)
ANN = Budget("ann", "trainway.dev/user=ann", "10", "")


def test_a_deleted_job_that_is_found_again_is_still_that_of_its_user() -> None:
    rate = Rate("2026-11-15T01:00:00.000000Z", Decimal(1), "local")
    piece = Piece(NOW - timedelta(hours=4), NOW, 0, rate)
    found = MonthlySum()
    found.add("1", {"trainway.dev/user": "ann"}, [piece], NOW)
    found.add("1", {}, [piece], NOW)
    found.add("2", {}, [piece], NOW)

    assert found.of(ANN, NOW) == 4
