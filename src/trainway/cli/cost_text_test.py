"""What is said of the cost of a job."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from trainway.cli.cost_text import cost_text
from trainway.json_types import Json

NOW = datetime(2026, 11, 15, 6, tzinfo=UTC)
RUNNING = {"cost": 1.5, "costSince": "2026-11-15T05:30:00Z", "pricePerHour": 4.0}


@dataclass(frozen=True)
class Case:
    status: Json
    text: str


@pytest.mark.parametrize(
    "case",
    [
        Case({"usage": {}}, ""),
        Case({"usage": {"cost": 2.0}}, "$2.00"),
        Case({"usage": RUNNING}, "$3.50; $4.00 an hour"),
        Case({"usage": {"cost": 0.0013, "saved": 2.0}}, "$0.0013; $2.00 less than on demand"),
        Case({"usage": {}, "budget": {"limit": 50.0}}, "at most $50.00; no price is known"),
        Case({"usage": RUNNING, "budget": {"limit": 4.0, "warned": "2026-11-15T05:55:00Z"}},
             "$3.50 of at most $4.00; $4.00 an hour; 80 % of the budget is spent"),
        Case({"usage": {"cost": 3.0, "attempts": [{"attempt": 0, "cost": 1.0},
                                                  {"attempt": 1, "cost": 2.0}]}},
             "$3.00; attempt 1 $1.00, attempt 2 $2.00"),
    ],
)  # fmt: skip
def test_cost_of_a_job(case: Case) -> None:
    assert cost_text(case.status, NOW) == case.text
