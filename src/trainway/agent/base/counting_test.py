import pytest

from trainway import counting
from trainway.agent.base.counting import counted

COUNTS = [(0, "0 CPUs"), (0.5, "0.5 CPUs"), (1, "1 CPU"), (1.0, "1 CPU"), (2, "2 CPUs")]


@pytest.mark.parametrize(("number", "text"), COUNTS)
def test_one_thing_is_singular(number: float, text: str) -> None:
    assert counted(number, "CPU") == text
    assert counting.counted(number, "CPU") == text
