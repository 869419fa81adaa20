"""Amounts: how much a text means, and what is refused."""

from dataclasses import dataclass
from typing import Any

import pytest

from trainway.api.task import amounts
from trainway.api.task.amounts import Amount
from trainway.schema.shape import Shape, check


@dataclass(frozen=True)
class Case:
    value: Any
    expected: Any


@pytest.mark.parametrize(
    "case",
    [
        Case(4, Amount(4)),
        Case("4+", Amount(4, at_least=True)),
        Case("0.5", Amount(0.5)),
    ],
)
def test_cpus(case: Case) -> None:
    assert list(check(amounts.CPUS, case.value, ())) == []
    assert amounts.cpus(case.value) == case.expected


@pytest.mark.parametrize(
    "case",
    [
        Case(32, Amount(32)),
        Case("32+", Amount(32, at_least=True)),
        Case("64GB", Amount(64)),
        Case("512mb+", Amount(0.5, at_least=True)),
        Case("1Ti", Amount(1024)),
        Case("4x", Amount(4, per_cpu=True)),
    ],
)
def test_memory_in_gigabytes(case: Case) -> None:
    assert list(check(amounts.MEMORY, case.value, ())) == []
    assert amounts.memory(case.value) == case.expected


@pytest.mark.parametrize(
    "case", [Case("10", 10), Case("10m", 10), Case("2H", 120), Case("1d", 1440), Case("1w", 10080)]
)
def test_minutes(case: Case) -> None:
    assert amounts.minutes(case.value) == case.expected


@pytest.mark.parametrize(
    "case", [Case("30s", 30), Case("30", 30), Case("2m", 120), Case("1H", 3600)]
)
def test_seconds(case: Case) -> None:
    assert amounts.seconds(case.value) == case.expected


@pytest.mark.parametrize(
    "case",
    [
        Case(80, [(80, 80)]),
        Case("80-90", [(80, 90)]),
        Case("80, 443,8000-8001", [(80, 80), (443, 443), (8000, 8001)]),
        Case([22, "80-81"], [(22, 22), (80, 81)]),
    ],
)
def test_ports(case: Case) -> None:
    assert amounts.port_ranges(case.value) == case.expected


@pytest.mark.parametrize("value", [0, 65536, "a", "90-80", "", [80, ""], -1, 80.0])
def test_no_ports(value: Any) -> None:
    with pytest.raises(ValueError, match="port"):
        amounts.port_ranges(value)


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        (amounts.CPUS, 0),
        (amounts.CPUS, "4x"),
        (amounts.CPUS, True),
        (amounts.MEMORY, "64 GB"),
        (amounts.MEMORY, 1e300),
        (amounts.SIZE, 1.5),
        (amounts.SIZE, "256+"),
        (amounts.MINUTES, "10s"),
        (amounts.SECONDS, "soon"),
    ],
)
def test_what_is_no_amount(shape: Shape, value: Any) -> None:
    assert len(list(check(shape, value, ("field",)))) == 1
