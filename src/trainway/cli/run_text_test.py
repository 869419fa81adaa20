"""The table of a run: what its jobs reported last."""

from datetime import UTC, datetime

from trainway.cli.run_text import cost_line, reported


def test_numbers_are_short_enough_to_compare() -> None:
    metrics = [
        {"name": "loss", "value": "0.05502322005640721"},
        {"name": "step", "value": "29"},
        {"name": "stage", "value": "warm-up"},
        {"name": "grad", "value": "nan"},
    ]
    assert reported({"status": {"progress": {"metrics": metrics}}}) == {
        "loss": "0.05502",
        "step": "29",
        "stage": "warm-up",
        "grad": "nan",
    }


def test_what_a_run_has_cost_stands_beside_its_limit() -> None:
    now = datetime(2026, 11, 15, 12, tzinfo=UTC)
    usage = {"cost": 30.0, "costSince": "2026-11-15T11:00:00.000000Z", "pricePerHour": 12.0}
    budget = {"limit": 50.0, "warned": "2026-11-15T11:59:00.000000Z", "ended": None}
    status = {"usage": usage, "budget": budget}
    told = "cost: $42.00 of at most $50.00; $12.00 an hour; 80 % of the budget is spent"
    assert cost_line({"status": status}, now) == told
    spent = {"usage": {"cost": 50.01}, "budget": {**budget, "ended": "2026-11-15T12:00:00Z"}}
    assert (
        cost_line({"status": spent}, now) == "cost: $50.01 of at most $50.00; the budget is spent"
    )
    assert cost_line({"status": {"phase": "Running"}}, now) == ""
