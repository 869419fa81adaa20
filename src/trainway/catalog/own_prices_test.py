"""Prices of own machines."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from trainway.catalog.own_prices import SHAPE, Asked, place_price
from trainway.schema.shape import check

PRICES: dict[str, Any] = {
    "slurm": 1.2,
    "ssh/lab": {"node": 0.1, "cpu": 0.01, "gpu": 0.8, "gpus": {"H100": 2.5}},
    "ssh/typed": {"gpus": {"H100": 2.5, "T4": 0.2}},
    "local": 0,
}


@dataclass(frozen=True)
class Case:
    what: str
    place: str
    asked: Asked
    hourly: str | None


CASES = [
    Case("a number is the price of a node", "slurm/hpc", Asked(3), "3.6"),
    Case("a place of its own", "ssh/lab", Asked(2, Decimal(8)), "0.28"),
    Case("by type", "ssh/lab", Asked(1, gpus=8, types={"h100": 8}), "20.1"),
    Case("a type without a price", "ssh/lab", Asked(1, gpus=2, types={"A100": 2}), "1.7"),
    Case("no type", "ssh/lab", Asked(1, gpus=2), "1.7"),
    Case("the dearest, where nobody knows", "ssh/typed", Asked(1, gpus=1), "2.5"),
    Case("free", "local", Asked(4), "0"),
    Case("nobody said", "k8s/prod", Asked(4), None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_what_an_hour_costs(case: Case) -> None:
    price = place_price(PRICES, case.place)
    found = None if price is None else price.hourly(case.asked)
    assert found == (None if case.hourly is None else Decimal(case.hourly))


@pytest.mark.parametrize(
    ("prices", "wrong"),
    [
        (PRICES, []),
        ({"ssh": -1}, ["prices.ssh"]),
        ({"ssh": "cheap"}, ["prices.ssh"]),
        ({"ssh": {"gpuss": {}}}, ["prices.ssh.gpuss"]),
        ({"ssh": {"gpus": {"H100": "1"}}}, ["prices.ssh.gpus.H100"]),
    ],
)
def test_what_is_wrong_is_named(prices: dict[str, Any], wrong: list[str]) -> None:
    found = [str(error).split(":")[0] for error in check(SHAPE, prices, ("prices",))]
    assert found == wrong
