from typing import Any

import pytest

from trainway.schema.shape import Number, check


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (7, ""),
        (2.0, ""),
        (2.5, "must be an integer"),
        (float("inf"), "must be an integer"),
        (float("nan"), "must be an integer"),
        (True, "must be an integer"),
        (10**400, "must be less than or equal to 9"),
        (-(10**400), "must be greater than or equal to 0"),
    ],
)
def test_a_number_is_checked_however_large_it_is(value: Any, said: str) -> None:
    found = [str(error) for error in check(Number(whole=True, least=0, most=9), value, ("n",))]
    assert all(said in each for each in found)
    assert bool(found) == bool(said)
