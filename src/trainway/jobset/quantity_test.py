from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.jobset.quantity import ZERO, Family, InvalidQuantityError, Quantity, quantity_errors
from trainway.schema.kubernetes import kube
from trainway.schema.validation import validate


@dataclass(frozen=True)
class Case:
    text: Any
    canonical: str
    ceil: int


@pytest.mark.parametrize(
    "case",
    [
        Case("0", "0", 0),
        Case("0Gi", "0", 0),
        Case("-0.0", "0", 0),
        Case("1", "1", 1),
        Case(3, "3", 3),
        Case(0.5, "500m", 1),
        Case(1e20, "100E", 10**20),
        Case(Decimal("2.50"), "2500m", 3),
        Case("0.5", "500m", 1),
        Case(".5", "500m", 1),
        Case("1.", "1", 1),
        Case("+1", "1", 1),
        Case("007", "7", 7),
        Case("1500m", "1500m", 2),
        Case("1.500", "1500m", 2),
        Case("2000m", "2", 2),
        Case("1000k", "1M", 10**6),
        Case("12345", "12345", 12345),
        Case("1100000", "1100k", 1100000),
        Case("1024", "1024", 1024),
        Case("1024Mi", "1Gi", 2**30),
        Case("1536Mi", "1536Mi", 3 * 2**29),
        Case("1.5Gi", "1536Mi", 3 * 2**29),
        Case("0.5Ki", "512", 512),
        Case("1023Ki", "1023Ki", 1023 * 1024),
        Case("0.0001Ki", "102400u", 1),
        Case("1.0001Ki", "1024102400u", 1025),
        Case("1e3", "1e3", 1000),
        Case("1E3", "1e3", 1000),
        Case("10e2", "1e3", 1000),
        Case("1e5", "100e3", 10**5),
        Case("1e0", "1", 1),
        Case("5e-1", "500e-3", 1),
        Case("1E", "1E", 10**18),
        Case("1Ei", "1Ei", 2**60),
        Case("5n", "5n", 1),
        Case("0.1n", "1n", 1),
        Case("1e-30", "1e-9", 1),
        Case("0.0000000011", "2n", 1),
        Case("1.0000000001", "1000000001n", 2),
        Case("-1500m", "-1500m", -2),
        Case("-0.5Ki", "-512", -512),
        Case("-1Gi", "-1Gi", -(2**30)),
        Case("16Ei", "9223372036854775807", 2**63 - 1),
        Case("1000E", "1000E", 10**21),
    ],
    ids=lambda case: repr(case.text),
)
def test_quantities_are_read_and_printed_as_kubernetes_prints_them(case: Case) -> None:
    quantity = Quantity.parse(case.text)
    assert str(quantity) == case.canonical
    assert quantity.ceil() == case.ceil
    assert quantity.is_zero == (case.ceil == 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        ".",
        "Ki",
        "1 Gi",
        " 1",
        "1\n",
        "1gi",
        "1K",
        "1mi",
        "1e",
        "1e1.5",
        "1e99999999999",
        "1" * 200,
        "0x10",
        "1_000",
        "\u0661",
        "--1",
        True,
        None,
        [],
        float("nan"),
        float("inf"),
        10**100,
        Decimal("NaN"),
    ],
    ids=repr,
)
def test_what_is_no_quantity_is_refused(text: Any) -> None:
    with pytest.raises(InvalidQuantityError):
        Quantity.parse(text)


@pytest.mark.parametrize(
    ("terms", "total"),
    [
        (["1Gi", "1G"], "2073741824"),
        (["1G", "1Gi"], "2073741824"),
        (["512Mi", "512Mi"], "1Gi"),
        (["0", "512Mi", "1k"], "536871912"),
        (["0", "512Mi", "512Mi"], "1Gi"),
        (["0Gi", "1500m"], "1500m"),
        (["500m", "500m"], "1"),
        (["1e3", "1"], "1001"),
        (["1Ki", "0.5"], "1024500m"),
        ([], "0"),
    ],
)
def test_a_sum_keeps_the_family_of_the_first_term_that_is_not_zero(
    terms: list[str], total: str
) -> None:
    assert str(sum(map(Quantity.parse, terms), ZERO)) == total


def test_products_and_differences() -> None:
    assert str(Quantity.parse("100m") * 10) == "1"
    assert str(8 * Quantity.parse("128Mi")) == "1Gi"
    assert str(Quantity.parse("1Gi") - Quantity.parse("512Mi")) == "512Mi"
    assert str(-Quantity.parse("1Gi")) == "-1Gi"


def test_equal_amounts_are_equal_however_they_are_written() -> None:
    same = [Quantity.parse(text) for text in ("1Ki", "1024", "1.024k", "1024e0", 1024)]
    assert len(set(same)) == 1
    assert Quantity.parse("1") != "1"
    assert Quantity.parse(same[0]) is same[0]


def test_quantities_that_only_the_schema_takes_are_found() -> None:
    resources = {"limits": {"cpu": "1e999999999", "memory": "1Gi", "nvidia.com/gpu": "1e1.5"}}
    variable = {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "x", "divisor": 1}}}
    pod = {
        "containers": [
            {"name": "a", "resources": resources, "env": [variable], "new": {"cpu": "?"}}
        ],
        "overhead": None,
    }
    assert validate(kube("PodSpec"), pod).errors == []
    errors = list(quantity_errors(kube("PodSpec"), pod, ("spec",)))
    assert [error.field for error in errors] == [
        "spec.containers[0].resources.limits.cpu",
        "spec.containers[0].resources.limits[nvidia.com/gpu]",
    ]
    assert str(errors[0]).endswith('"1e999999999": must be a quantity such as 500m, 1Gi or 1e3')


numbers = st.from_regex(r"[+-]?([0-9]{1,18}(\.[0-9]{0,12})?|\.[0-9]{1,12})", fullmatch=True)
suffixes = st.sampled_from(
    ["", *"numkMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-4", "e+10"]
)
texts = st.builds("{}{}".format, numbers, suffixes)
quantities = texts.map(Quantity.parse)


@given(texts)
def test_the_canonical_form_means_the_same_and_is_a_fixed_point(text: str) -> None:
    quantity = Quantity.parse(text)
    again = Quantity.parse(str(quantity))
    assert str(again) == str(quantity)
    if quantity.nanos <= (2**63 - 1) * 10**9:
        assert again == quantity


@given(quantities, quantities, quantities)
def test_arithmetic_is_exact(a: Quantity, b: Quantity, c: Quantity) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert (a + b) - b == a
    assert a * 3 == a + a + a
    assert (a < b) == ((b - a) > ZERO)
    assert hash(a + b) == hash(b + a)


@given(quantities)
def test_ceil_is_the_next_whole_number_away_from_zero(quantity: Quantity) -> None:
    distance = abs(quantity.ceil()) * 10**9 - abs(quantity.nanos)
    assert 0 <= distance < 10**9
    assert quantity.ceil() * quantity.nanos >= 0


@given(st.integers(min_value=-(10**30), max_value=10**30), st.sampled_from(Family))
def test_any_amount_can_be_printed_and_read_back(nanos: int, family: Family) -> None:
    text = str(Quantity(nanos, family))
    assert Quantity.parse(text).nanos in (nanos, (2**63 - 1) * 10**9, -(2**63 - 1) * 10**9)


@given(st.text(max_size=12))
def test_any_text_is_a_quantity_or_a_clean_error(text: str) -> None:
    try:
        quantity = Quantity.parse(text)
    except InvalidQuantityError:
        return
    assert text.isascii()
    assert Quantity.parse(str(quantity)) == quantity
