from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.api.yaml_scalar import Scalar, integral, resolve


@dataclass(frozen=True)
class Case:
    text: str
    value: Scalar


CASES = [
    Case("", None),
    Case("~", None),
    Case("null", None),
    Case("NULL", None),
    Case("nULL", "nULL"),
    Case("yes", True),
    Case("Y", True),
    Case("on", True),
    Case("TRUE", True),
    Case("tRUE", "tRUE"),
    Case("no", False),
    Case("n", False),
    Case("Off", False),
    Case("0", 0),
    Case("-0", 0),
    Case("+7", 7),
    Case("-12", -12),
    Case("1_000", 1000),
    Case("0x1F", 31),
    Case("-0x1f", -31),
    Case("0o17", 15),
    Case("017", 15),
    Case("0b101", 5),
    Case("-0b1", -1),
    Case("08", 8),
    Case("18446744073709551615", 2**64 - 1),
    Case("18446744073709551616", 2**64),
    Case("99999999999999999999999", 1e23),
    Case("0x123456789abcdef01", "0x123456789abcdef01"),
    Case("0.5", 0.5),
    Case(".5", 0.5),
    Case("-.5", -0.5),
    Case("1.", 1),
    Case("1.0", 1),
    Case("1e3", 1000),
    Case("1e-3", 0.001),
    Case("12e999", "12e999"),
    Case("1e", "1e"),
    Case("0x", "0x"),
    Case("0o", "0o"),
    Case("1:30", "1:30"),
    Case("190:20:30", "190:20:30"),
    Case("2024-01-01", "2024-01-01"),
    Case("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
    Case("1.2.3", "1.2.3"),
    Case("500m", "500m"),
    Case("1Gi", "1Gi"),
    Case("--flag", "--flag"),
    Case("+", "+"),
    Case("-", "-"),
    Case(".", "."),
    Case("._1", "._1"),
    Case("٣", "٣"),
    Case("inf", "inf"),
    Case("nan", "nan"),
    Case("word", "word"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text or "empty")
def test_a_plain_scalar_means_what_it_means_to_kubectl(case: Case) -> None:
    value = resolve(case.text)

    assert value == case.value
    assert isinstance(value, type(case.value)) or isinstance(case.value, float)


@pytest.mark.parametrize("text", [".inf", "+.INF", "-.Inf"])
def test_infinity_is_a_float(text: str) -> None:
    assert resolve(text) == float(text.replace(".", "").lower())


def test_nan_is_a_float() -> None:
    value = resolve(".nan")

    assert isinstance(value, float)
    assert value != value  # noqa: PLR0124 - what makes a NaN


@given(st.integers(-(2**63), 2**64 - 1))
def test_a_64_bit_integer_is_read_back(number: int) -> None:
    assert resolve(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_read_back(number: float) -> None:
    assert resolve(repr(number)) == number
    assert integral(number) == number


@given(st.text())
def test_any_text_has_a_value(text: str) -> None:
    value = resolve(text)

    assert not isinstance(value, str) or value == text
