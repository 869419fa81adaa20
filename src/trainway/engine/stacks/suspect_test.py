from dataclasses import dataclass

import pytest

from trainway.engine.stacks.suspect import suspect
from trainway.json_types import Json


def rank(number: int, function: str) -> Json:
    frames = [{"function": function, "file": "t.py", "line": 3}] if function else []
    thread = {"name": "MainThread", "main": True, "active": False, "frames": frames}
    return {"node": f"node-{number}", "processes": [{"threads": [thread]}]}


@dataclass(frozen=True)
class Case:
    name: str
    functions: tuple[str, ...]
    blamed: int


@pytest.mark.parametrize(
    "case",
    [
        Case("alone", ("stuck",), 0),
        Case("one is elsewhere", ("all_reduce", "all_reduce", "stuck", "all_reduce"), 2),
        Case("one of two does not wait for the other", ("socket.accept", "stuck"), 1),
        Case("two that do not wait", ("compute", "stuck"), 0),
        Case("all in the same call", ("barrier", "barrier", "barrier"), 0),
        Case("one is not known", ("barrier", "", "barrier"), 0),
        Case("all elsewhere", ("a", "b", "c"), 0),
        Case("nothing is known", ("", ""), 0),
    ],
    ids=lambda case: case.name,
)
def test_the_rank_that_is_not_where_the_others_wait_is_blamed(case: Case) -> None:
    ranks = [rank(number, function) for number, function in enumerate(case.functions)]
    assert suspect(ranks) == ranks[case.blamed]
