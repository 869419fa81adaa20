from dataclasses import dataclass

import pytest

from trainway.agent.kubelet.health.verdict import blamed, is_certain


@dataclass(frozen=True)
class Case:
    id: str
    broken: tuple[tuple[int, int], ...]
    attempt: int
    blamed: list[int]
    is_certain: bool


CASES = [
    Case("one of three is cut off", ((0, 2), (1, 2)), 0, [2], is_certain=True),
    Case("as that one sees it", ((2, 0), (2, 1)), 1, [2], is_certain=True),
    Case("both directions are one link", ((0, 1), (1, 0)), 0, [1], is_certain=False),
    Case("the next attempt takes the other", ((0, 1),), 1, [0], is_certain=False),
    Case("two links, two nodes", ((0, 1), (2, 3)), 0, [3, 1], is_certain=False),
    Case("two of four are cut off", ((0, 2), (0, 3), (1, 2), (1, 3), (2, 3)), 0, [3, 2], False),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_who_is_to_blame(case: Case) -> None:
    assert blamed(case.broken, case.attempt) == case.blamed
    assert is_certain(case.broken, case.blamed[0]) is case.is_certain


def test_nobody_is_to_blame_for_nothing() -> None:
    assert blamed((), 0) == []
