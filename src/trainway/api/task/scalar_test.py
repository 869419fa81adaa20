"""Plain scalars: what PyYAML's safe loader makes of them, less two of its traps."""

from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from trainway.api.task.scalar import resolve


@dataclass(frozen=True)
class Case:
    text: str
    value: Any


CASES = [
    Case("yes", True),
    Case("Off", False),
    Case("y", "y"),
    Case("~", None),
    Case("", None),
    Case("12", 12),
    Case("-0x1F", -31),
    Case("010", 8),
    Case("0b101", 5),
    Case("1_000", 1000),
    Case("1.0", 1.0),
    Case("1.5e+3", 1500.0),
    Case("1e3", "1e3"),
    Case("22:22", "22:22"),
    Case("2026-01-31", "2026-01-31"),
    Case("0b_", "0b_"),
    Case("9" * 500, "9" * 500),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text[:20])
def test_value(case: Case) -> None:
    value = resolve(case.text)

    assert (value, type(value)) == (case.value, type(case.value))


@given(st.from_regex(r"[-+.0-9_eExXaobB]{1,12}", fullmatch=True))
def test_numbers_are_those_of_pyyaml(text: str) -> None:
    try:
        expected = yaml.safe_load(f"- {text}")[0]
    except (yaml.YAMLError, ValueError, TypeError):
        return

    if isinstance(expected, str | int | float) and str(expected) != "nan":
        assert resolve(text) == expected
