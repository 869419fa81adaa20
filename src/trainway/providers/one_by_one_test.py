"""Gangs that are made one machine at a time."""

from collections.abc import Sequence

import pytest

from trainway.providers import one_by_one
from trainway.providers.base import Machine, Place
from trainway.providers.contract_testing import gang
from trainway.providers.errors import ProviderError, Scope, Trouble

REQUEST = gang(Place("east"), "small", 3)


class Cloud:
    """A list of machines; the newest may not be seen yet."""

    def __init__(self, ranks: Sequence[int] = (), *, full_at: int = 99, late: bool = False) -> None:
        self.machines = {f"m{index}": rank for index, rank in enumerate(ranks)}
        self.full_at = full_at
        self.late = late
        self.ended: list[str] = []

    def create(self) -> list[int]:
        made = one_by_one.create(REQUEST, self.find, self.make, self.end)
        return [each.rank for each in made]

    def find(self) -> list[Machine]:
        seen = list(self.machines.items())[: -1 if self.late else None]
        return [one_by_one.starting(REQUEST, rank, name) for name, rank in seen]

    def make(self, rank: int) -> str:
        if rank >= self.full_at:
            raise ProviderError("full", trouble=Trouble.CAPACITY, scope=Scope.REGION)
        name = f"m{len(self.machines)}"
        self.machines[name] = rank
        return name

    def end(self, machines: Sequence[str]) -> None:
        self.ended += machines
        for each in machines:
            self.machines.pop(each, None)


def test_what_is_missing_is_made() -> None:
    cloud = Cloud([1])
    assert cloud.create() == [0, 1, 2]
    assert len(cloud.machines) == 3
    assert cloud.create() == [0, 1, 2]
    assert len(cloud.machines) == 3


@pytest.mark.parametrize("late", [False, True])
def test_less_than_a_gang_is_ended_again(late: bool) -> None:
    cloud = Cloud(full_at=2, late=late)
    with pytest.raises(ProviderError, match="full"):
        cloud.create()
    assert cloud.machines == {}


def test_a_machine_that_is_not_seen_yet_is_one_of_the_gang() -> None:
    assert Cloud(late=True).create() == [0, 1, 2]


def test_of_two_with_one_rank_one_is_ended() -> None:
    cloud = Cloud([0, 1, 1, 2])
    assert cloud.create() == [0, 1, 2]
    assert cloud.ended == ["m2"]
