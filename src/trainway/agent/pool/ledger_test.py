from dataclasses import dataclass, field

import pytest

from trainway.agent.pool.ledger import Capacity, Ledger
from trainway.agent.pool.placement import Placement
from trainway.json_types import Json

FACTS: Json = {"cpus": 8, "memory": 1024, "gpus": ["0", "1"]}


@dataclass(frozen=True)
class Case:
    name: str
    settings: Json
    cpus: int | None = 8000
    memory: int | None = 1024
    gpus: list[str] = field(default_factory=lambda: ["0", "1"])
    facts: Json = field(default_factory=lambda: dict(FACTS))


@pytest.mark.parametrize(
    "case",
    [
        Case("as found", {}),
        Case("as found where nothing is said", {"cpus": None, "memory": None, "gpus": None}),
        Case("less is lent", {"cpus": 0.5, "memory": 10, "gpus": 1}, 500, 10, ["0"]),
        Case("more is claimed", {"gpus": 3}, gpus=["0", "1", "2"]),
        Case("none is lent", {"gpus": 0}, gpus=[]),
        Case("named", {"gpus": ["1"]}, gpus=["1"]),
        Case("not counted", {}, None, None, [], {}),
    ],
    ids=lambda case: case.name,
)
def test_capacity(case: Case) -> None:
    capacity = Capacity.read(case.facts, case.settings)
    assert (capacity.cpus, capacity.memory, capacity.gpus) == (case.cpus, case.memory, case.gpus)


def ledger() -> Ledger:
    books = Ledger()
    books.set_capacity("a", Capacity(4000, 100, ["0", "1"]))
    books.set_capacity("b", Capacity(2000, 100, []))
    return books


DEMAND: list[Json] = [
    {"pod": "node-0-0", "cpus": 1, "memory": 10, "gpus": 0.5},
    {"pod": "node-0-1", "cpus": 1.5},
]
PLACEMENT = Placement({"node-0-0": "a", "node-0-1": "b"}, {"node-0-0": {"gpus": ["1"]}})


def free(books: Ledger, host: str) -> tuple[int | None, int | None, dict[str, int], int]:
    room = books.room(host)
    assert room is not None
    return room.cpus, room.memory, room.gpus, room.pods


def test_what_is_held_is_not_free_until_it_is_given_back() -> None:
    books = ledger()
    books.hold("job", DEMAND, PLACEMENT)
    assert free(books, "a") == (3000, 90, {"0": 1000, "1": 500}, 1)
    assert free(books, "b") == (500, 100, {}, 1)
    assert books.release("job")
    assert not books.release("job")
    assert free(books, "a") == (4000, 100, {"0": 1000, "1": 1000}, 0)


def test_holding_again_takes_the_place_of_the_first() -> None:
    books = ledger()
    books.hold("job", DEMAND, PLACEMENT)
    books.hold("job", DEMAND, PLACEMENT)
    assert free(books, "b") == (500, 100, {}, 1)


def test_a_host_that_becomes_known_later_has_what_others_hold_taken_off() -> None:
    books = Ledger()
    books.hold("job", DEMAND, PLACEMENT)
    assert books.rooms() == []
    books.set_capacity("a", Capacity(4000, 100, ["0", "1"]))
    assert free(books, "a") == (3000, 90, {"0": 1000, "1": 500}, 1)
    books.set_capacity("a", None)
    assert books.room("a") is None
    assert books.release("job")


def test_rooms_of_some_hosts() -> None:
    books = ledger()
    books.hold("job", DEMAND, PLACEMENT)
    assert [room.name for room in books.rooms({"b"})] == ["b"]
    assert [room.cpus for room in books.empty_rooms()] == [4000, 2000]
