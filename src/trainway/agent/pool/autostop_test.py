from dataclasses import dataclass

import pytest

from trainway.agent.pool.autostop import Autostop, read


@dataclass(frozen=True)
class Case:
    minutes: float
    idle: float
    left: float
    had_job: bool = True


@pytest.mark.parametrize(
    "case",
    [
        Case(5, 0, 300),
        Case(5, 299, 1),
        Case(5, 300, 0),
        Case(5, 1000, 0),
        Case(0, 0, 0),
        Case(0, 0, 60, had_job=False),
        Case(0, 61, 0, had_job=False),
        Case(5, 61, 239, had_job=False),
    ],
)
def test_seconds_left(case: Case) -> None:
    found = Autostop(case.minutes).seconds_left(1000, 1000 + case.idle, had_job=case.had_job)
    assert found == case.left


def test_what_is_written_is_read_again() -> None:
    told = Autostop(2, down=True)
    again = read(told.to_json())
    assert again is not None
    assert (again.minutes, again.down) == (2, True)


@pytest.mark.parametrize("data", [None, {}, {"minutes": None}])
def test_never(data: object) -> None:
    assert read(data) is None
