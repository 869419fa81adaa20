from collections import Counter
from dataclasses import dataclass, field, replace

import pytest

from trainway.queueing.amounts import CPU, GPU
from trainway.queueing.fair_share import HALF_LIFE_S, FairShare, decayed
from trainway.queueing.queue_policy import QueuePolicy
from trainway.queueing.snapshot import RunningGang, Snapshot, Used, WaitingGang

ONE_GPU = {GPU: 1, CPU: 1000}


def gang(
    name: str, queue: str = "a", user: str = "", priority: int = 0, *, owed: int | None = None
) -> WaitingGang:
    gang = WaitingGang(name, ONE_GPU, "local", queue, user, priority, int(name))
    return replace(gang, owed=owed)


@dataclass(frozen=True)
class Case:
    name: str
    waiting: list[WaitingGang]
    order: str
    used: Used = field(default_factory=Used)
    running: list[RunningGang] = field(default_factory=list)
    weights: dict[str, int] = field(default_factory=dict)


CASES = [
    Case("nobody", [], ""),
    Case("by arrival", [gang("2"), gang("1")], "12"),
    Case("by priority before", [gang("1"), gang("2", priority=1)], "21"),
    Case(
        "queues take turns", [gang("1"), gang("2"), gang("3"), gang("4", "b"), gang("5", "b")],
        "14253",
    ),
    Case(
        "who used less comes first",
        [gang("1"), gang("2", "b")], "21", Used({"a": 1_000, "b": 999}),
    ),
    Case(
        "what runs counts",
        [gang("1"), gang("2", "b")], "21", running=[RunningGang("r", ONE_GPU, "local", "a")],
    ),
    Case(
        "by weight",
        [gang("1"), gang("2"), gang("3"), gang("4"), gang("5", "b"), gang("6", "b")],
        "152364", weights={"a": 2},
    ),
    Case(
        "users of a queue take turns",
        [gang("1", user="x"), gang("2", user="x"), gang("3", user="y")], "132",
    ),
    Case(
        "who used less in the queue comes first",
        [gang("1", user="x"), gang("2", user="y")], "21", Used(by_user={("a", "x"): 1}),
    ),
    Case(
        "those for whom room is made come before their equals, not before others",
        [gang("1"), gang("2", "b", owed=1), gang("3", priority=1)], "321",
        Used({"b": 99}),
    ),
    Case(
        "of those the last whom room was made for comes first",
        [gang("1", owed=1), gang("2", owed=2), gang("3", owed=2)], "231",
    ),
    Case(
        "those whose room is there come before those whose is not yet",
        [gang("1", owed=1), gang("2", owed=2)], "12",
        running=[RunningGang("r", ONE_GPU, "local", "a", leaves_for="2")],
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_order(case: Case) -> None:
    queues = {name: QueuePolicy(name, weight=case.weights.get(name, 1)) for name in "ab"}
    snapshot = Snapshot(case.waiting, case.running, queues, {}, 0, case.used)
    assert "".join(one.id for one in FairShare(snapshot).in_order(case.waiting)) == case.order


def test_every_queue_gets_its_part_of_the_first_places() -> None:
    queues = {"a": QueuePolicy("a", weight=1), "b": QueuePolicy("b", weight=3)}
    waiting = [gang(str(number), "ab"[number % 2]) for number in range(200)]
    order = FairShare(Snapshot(waiting, [], queues, {}, 0)).in_order(waiting)
    assert Counter(one.queue for one in order[:80]) == {"a": 20, "b": 60}


def test_usage_decays() -> None:
    assert decayed(100.0, 0) == decayed(100.0, -5) == 100.0
    assert decayed(100.0, HALF_LIFE_S) == 50.0
    assert decayed(100.0, 2 * HALF_LIFE_S) == 25.0
