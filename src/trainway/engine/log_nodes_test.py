from dataclasses import dataclass

import pytest

from trainway.engine.log_nodes import refuse_unknown
from trainway.errors import NotFoundError


def nodes(**ranks: tuple[int, ...]) -> list[dict[str, object]]:
    return [{"role": role, "rank": rank} for role, found in ranks.items() for rank in found]


GANG = nodes(launcher=(0,), worker=(0, 1, 2), odd=(0, 2, 5))


@dataclass(frozen=True)
class Case:
    role: str | None
    rank: int | None
    message: str
    hint: str


@pytest.mark.parametrize(
    "case",
    [
        Case("nod", None, "train has no role 'nod'", "its roles are: launcher, worker, odd"),
        Case("worker", 3, "train has no rank 3 of role worker", "worker has ranks 0 to 2"),
        Case("launcher", 1, "train has no rank 1 of role launcher", "launcher has rank 0"),
        Case("odd", 1, "train has no rank 1 of role odd", "odd has ranks 0, 2 and 5"),
        Case(
            None,
            9,
            "train has no rank 9",
            "launcher has rank 0; worker has ranks 0 to 2; odd has ranks 0, 2 and 5",
        ),
    ],
)
def test_whoever_asks_for_a_rank_that_is_not_there_is_told_which_are(case: Case) -> None:
    with pytest.raises(NotFoundError) as caught:
        refuse_unknown("train", GANG, case.role, case.rank)
    assert (caught.value.message, caught.value.hint) == (case.message, case.hint)


@pytest.mark.parametrize(("role", "rank"), [(None, None), ("worker", 2), (None, 5), ("odd", None)])
def test_those_that_are_there_are_fine(role: str | None, rank: int | None) -> None:
    refuse_unknown("train", GANG, role, rank)


def test_of_a_job_whose_nodes_are_not_known_anything_may_be_asked() -> None:
    refuse_unknown("train", [], "worker", 9)
