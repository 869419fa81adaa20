from dataclasses import dataclass

import pytest

from trainway.errors import UsageError
from trainway.sdk.node_range import NodeRange, parse_nodes


@dataclass(frozen=True)
class Case:
    value: int | str
    found: NodeRange


@pytest.mark.parametrize(
    "case",
    [
        Case(4, NodeRange(4)),
        Case("4", NodeRange(4)),
        Case("2:8", NodeRange(8, 2)),
        Case(" 3:3 ", NodeRange(3, 3)),
        Case("1:1", NodeRange(1, 1)),
    ],
    ids=lambda case: str(case.value),
)
def test_numbers_and_ranges_are_read(case: Case) -> None:
    assert parse_nodes(case.value) == case.found


@pytest.mark.parametrize("value", ["", "0", 0, -1, "0:4", "2:", ":8", "a:b", "2:8:9", "²:4", "2.5"])
def test_what_is_no_number_of_nodes_is_named(value: int | str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_nodes(value)
    assert repr(value) in caught.value.message
    assert caught.value.field == "nodes"
    assert "2:8" in str(caught.value.hint)


@pytest.mark.parametrize("value", [100_001, "1" + "0" * 21, "2:99999999", "9" * 5000])
def test_more_nodes_than_anybody_has_are_refused_here(value: int | str) -> None:
    with pytest.raises(UsageError, match="is more than 100,000 nodes"):
        parse_nodes(value)


def test_a_minimum_above_the_maximum_is_turned_round_in_the_hint() -> None:
    with pytest.raises(UsageError, match="the maximum is smaller than the minimum") as caught:
        parse_nodes("8:2")
    assert caught.value.hint == "write 2:8"
