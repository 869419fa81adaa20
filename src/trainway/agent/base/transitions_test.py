from enum import Enum

import pytest

from trainway.agent.base.transitions import TransitionError, following


class Light(Enum):
    GREEN = "green"
    RED = "red"


TABLE = {Light.GREEN: frozenset({Light.RED}), Light.RED: frozenset[Light]()}


def test_what_the_table_has_follows() -> None:
    assert following(TABLE, Light.GREEN, Light.RED) is Light.RED


@pytest.mark.parametrize("light", Light)
def test_a_state_may_stay(light: Light) -> None:
    assert following(TABLE, light, light) is light


def test_anything_else_is_an_error() -> None:
    with pytest.raises(TransitionError, match=r"Light\.GREEN cannot follow Light\.RED"):
        following(TABLE, Light.RED, Light.GREEN)
