"""What jobs cost, to the cent."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.engine.attempt_runs import Runs
from trainway.engine.costs.cost import by_attempt, pieces, shown, total
from trainway.engine.costs.rate import Rate, rates_of, with_rate

DAY = "2026-11-14T"
UNTIL = f"{DAY}12:00:00Z"


def own(hourly: str, since: str = "00:00:00") -> Rate:
    return Rate(f"{DAY}{since}Z", Decimal(hourly), "local")


def rented(hourly: str, since: str, on_demand: str, attempt: int = 0) -> Rate:
    return Rate(
        f"{DAY}{since}Z",
        Decimal(hourly),
        "aws",
        is_rented=True,
        infra="aws/us-east-1/us-east-1a",
        is_spot=True,
        on_demand=Decimal(on_demand),
        attempt=attempt,
    )


def ran(start: str, end: str = "", attempt: int = 0, **more: float) -> dict[str, object]:
    ended = {"end": f"{DAY}{end}Z"} if end else {}
    return {"attempt": attempt, "start": f"{DAY}{start}Z", **ended, **more}


@dataclass(frozen=True)
class Case:
    what: str
    rates: list[Rate]
    runs: Runs
    spent: str
    saved: str = "0"
    attempts: dict[int, str] = field(default_factory=dict)


CASES = [
    Case("nobody has said a price", [], [ran("01:00:00", "02:00:00")], "0"),
    Case("an hour", [own("2.50")], [ran("01:00:00", "02:00:00")], "2.5", attempts={0: "2.5"}),
    Case("what runs counts until now", [own("1")], [ran("11:30:00")], "0.5"),
    Case("it waits between two attempts", [own("1")],
         [ran("01:00:00", "02:00:00"), ran("03:00:00", "05:00:00", 1)], "3",
         attempts={0: "1", 1: "2"}),
    Case("a price counts from when it was read", [own("1"), own("4", "01:30:00")],
         [ran("01:00:00", "02:00:00")], "2.5"),
    Case("a machine whose clock is slow began before its rate", [own("1", "01:00:30")],
         [ran("01:00:00", "02:00:00")], "1"),
    Case("pauses of runs that were joined cost nothing", [own("3")],
         [ran("01:00:00", "03:00:00", seconds=3600.0)], "3"),
    Case("rented machines cost also before something runs on them",
         [rented("1", "01:00:00", "3"), rented("0", "04:00:00", "0")],
         [ran("02:00:00", "03:00:00")], "3", "6", {0: "3"}),
    Case("rented again elsewhere, for the next attempt",
         [rented("1", "01:00:00", "3"), rented("2", "04:00:00", "3", 1)], [], "19", "14",
         {0: "3", 1: "16"}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_what_a_job_cost(case: Case) -> None:
    found = pieces(case.rates, case.runs, UNTIL)
    assert total(found).spent == Decimal(case.spent)
    assert total(found).saved == Decimal(case.saved)
    told = {attempt: str(cost.spent.normalize()) for attempt, cost in by_attempt(found).items()}
    for attempt, spent in case.attempts.items():
        assert Decimal(told[attempt]) == Decimal(spent)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=50), st.integers(1, 10**5))
def test_many_small_amounts_add_up_to_the_cent(seconds: list[int], cents: int) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    rate = Rate("2026-01-01T00:00:00Z", Decimal(cents) / 100, "local")
    runs: Runs = []
    for number, length in enumerate(seconds):
        start, end = (datetime.fromtimestamp(at, UTC) for at in (begin, begin + length))
        runs.append({"attempt": number, "start": start.isoformat(), "end": end.isoformat()})
        begin += length
    exact = Decimal(cents) * sum(seconds) / 100 / 3600
    spent = total(pieces([rate], runs, "2027-01-01T00:00:00Z")).spent
    assert abs(spent - exact) < Decimal("1e-12")
    assert shown(spent) == shown(exact)


def test_the_column_has_all_of_a_rate() -> None:
    rates = (own("0.1"), rented("1.5", "01:00:00", "4"))
    column = with_rate(rates[:1], rates[1])["rates"]
    assert rates_of(column) == rates
    assert rates_of(None) == ()
