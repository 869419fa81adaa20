"""Which node is the last that could take its jobs."""

from dataclasses import dataclass

import pytest

from trainway.backends.nodes import Node, is_last


@dataclass(frozen=True)
class Case:
    id: str
    others: tuple[Node, ...]
    is_last: bool
    gpus: int = 0


CASES = [
    Case("no other", (), is_last=True),
    Case("another", (Node("b", "up"),), is_last=False),
    Case("another takes no jobs", (Node("b", "down", "it is down"),), is_last=True),
    Case("another without GPUs", (Node("b", "up"),), is_last=True, gpus=8),
    Case("another with fewer GPUs", (Node("b", "up", gpus=1),), is_last=False, gpus=8),
    Case("one of several", (Node("b", "up", "x"), Node("c", "up")), is_last=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_last_node_is_told(case: Case) -> None:
    nodes = [Node("a", "up", gpus=case.gpus), *case.others]
    assert is_last("a", nodes) is case.is_last


def test_of_a_node_that_is_not_listed_the_others_are_left() -> None:
    assert not is_last("z", [Node("a", "up")])
    assert is_last("z", [])
