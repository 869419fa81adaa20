from dataclasses import dataclass

import pytest

from trainway.agent.base.quantity import times


@dataclass(frozen=True)
class Case:
    amount: str
    divisor: str
    expected: int


CASES = (
    Case("1", "0", 1),
    Case("1500m", "1", 2),
    Case("1500m", "1m", 1500),
    Case("0.5", "0", 1),
    Case(".25", "1m", 250),
    Case("4Gi", "1Mi", 4096),
    Case("1G", "1Mi", 954),
    Case("1e3", "1", 1000),
    Case("2E3", "1", 2000),
    Case("1E", "1P", 1000),
    Case("0", "1", 0),
    Case("1n", "1", 1),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.amount}/{case.divisor}")
def test_how_often_a_divisor_fits(case: Case) -> None:
    assert times(case.amount, case.divisor) == case.expected


@pytest.mark.parametrize("text", ["", "x", "1Zi", "Gi"])
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match=r"quantity|invalid literal"):
        times(text, "1")
