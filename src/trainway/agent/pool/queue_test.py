from dataclasses import dataclass, field

import pytest

from trainway.agent.controllers.gang_queue import QUEUED
from trainway.agent.pool.ledger import Capacity, Ledger
from trainway.agent.pool.queue import (
    FIRST,
    NO_HOSTS,
    NO_ROOM,
    UNUSABLE,
    Hindrances,
    Notices,
    decide,
)
from trainway.json_types import Json


@dataclass(frozen=True)
class Entry:
    id: str
    cpus: float = 1
    pods: int = 1
    priority: int = 0
    order: int = 0
    oversubscribe: bool = False
    is_new: bool = True

    @property
    def demand(self) -> list[Json]:
        return [{"pod": f"node-0-{index}", "cpus": self.cpus} for index in range(self.pods)]


def entries(*cpus: float) -> list[Entry]:
    return [Entry(f"j{index}", amount, order=index) for index, amount in enumerate(cpus)]


@dataclass(frozen=True)
class Case:
    name: str
    entries: list[Entry]
    start: list[str]
    waiting: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    usable: tuple[str, ...] = ("a", "b")
    complete: bool = True
    settled: bool = True


CASES = [
    Case("as many as fit", entries(1, 1, 1), ["j0", "j1", "j2"]),
    Case("the first that does not fit holds back all", entries(2, 2, 2, 1), ["j0", "j1"],
         {"j2": NO_ROOM, "j3": QUEUED}),
    Case("order, not place in the list", entries(2, 2, 1)[::-1], ["j0", "j1"], {"j2": NO_ROOM}),
    Case("priority first", [*entries(2, 2), Entry("high", 2, priority=1, order=9)],
         ["high", "j0"], {"j1": NO_ROOM}),
    Case("lower priority does not slip past", [Entry("high", 2, pods=2, priority=1, order=9),
         *entries(1)], [], {"high": NO_ROOM, "j0": QUEUED}, usable=("a",)),
    Case("all of a gang or nothing", [Entry("gang", 2, pods=2, order=5), *entries(1)],
         ["j0"], {"gang": NO_ROOM}),
    Case("nothing requested never waits", entries(2, 2, 2, 0), ["j0", "j1", "j3"],
         {"j2": NO_ROOM}),
    Case("oversubscribed", [Entry("big", 64, oversubscribe=True)], ["big"]),
    Case("too large for ever", entries(3, 1), ["j1"], {}, ["j0"]),
    Case("maybe a host is larger", entries(3, 1), [], {"j0": NO_ROOM, "j1": QUEUED},
         complete=False),
    Case("a lost host may come back", [Entry("gang", 2, pods=2)], [], {"gang": NO_ROOM},
         usable=("a",)),
    Case("gangs wait until all hosts had time to answer",
         [*entries(1), Entry("gang", 1, pods=2, order=5), Entry("later", order=6)],
         ["j0"], {"gang": QUEUED, "later": QUEUED}, settled=False),
    Case("no hosts", entries(1, 0), [], {"j0": NO_HOSTS, "j1": NO_HOSTS}, usable=()),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_decide(case: Case) -> None:
    ledger = Ledger()
    for name in "ab":
        ledger.set_capacity(name, Capacity(2000, None))
    decision = decide(
        case.entries, ledger, case.usable, complete=case.complete, settled=case.settled
    )
    assert [entry.id for entry, _ in decision.start] == case.start
    assert {entry.id: reason for entry, reason, _ in decision.waiting} == case.waiting
    assert [entry.id for entry, _, _ in decision.refused] == case.refused
    assert not ledger.holders()


def test_the_numbers_are_told() -> None:
    ledger = Ledger()
    ledger.set_capacity("a", Capacity(2000, None))
    decision = decide(entries(3), ledger, {"a"}, complete=True)
    assert decision.refused[0][2] == "it needs 3 CPUs, and there are 2"


@dataclass(frozen=True)
class Absence:
    absent: dict[str, str]
    message: str
    usable: tuple[str, ...] = ()


@pytest.mark.parametrize(
    "case",
    [
        Absence({}, "the pool has no hosts"),
        Absence({"a": "no route"}, "no host is available: a: no route"),
        Absence(
            dict.fromkeys("abcde", "off"),
            "no host is available: a: off; b: off; c: off; and 2 more",
        ),
        Absence({"b": "off"}, "it needs 3 CPUs, with only 2 free; not available: b (off)", ("a",)),
    ],
    ids=lambda case: case.message,
)
def test_hosts_that_are_not_there_are_named(case: Absence) -> None:
    ledger = Ledger()
    ledger.set_capacity("a", Capacity(2000, None))
    decision = decide(entries(3), ledger, case.usable, complete=False, absent=case.absent)
    assert [message for _, _, message in decision.waiting] == [case.message]


@dataclass(frozen=True)
class Defect:
    name: str
    entry: Entry
    defects: dict[str, str]
    unusable: list[str]
    waiting: list[str] = field(default_factory=list)
    complete: bool = True


@pytest.mark.parametrize(
    "case",
    [
        Defect(
            "nobody waits for what only people mend", Entry("j"),
            {"a": "no key", "b": "no Python"}, ["no host can be used: a: no key; b: no Python"],
        ),
        Defect("others will do", Entry("j", 2), {"a": "no key"}, []),
        Defect(
            "but not for so much", Entry("j", 2, pods=2), {"a": "no key"},
            ["it needs 4 CPUs, and there are 2; other hosts cannot be used: a: no key"],
        ),
        Defect(
            "who has begun waits", Entry("j", is_new=False), {"a": "x", "b": "y"}, [], [NO_HOSTS],
        ),
        Defect(
            "maybe another host is larger", Entry("j", 3), {"a": "no key"}, [], [NO_ROOM],
            complete=False,
        ),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_what_cannot_get_better_fails(case: Defect) -> None:
    ledger = Ledger()
    for name in "ab":
        ledger.set_capacity(name, Capacity(2000, None))
    usable = [name for name in "ab" if name not in case.defects]
    found = decide(
        [case.entry], ledger, usable, complete=case.complete,
        hindrances=Hindrances(defects=case.defects),
    )  # fmt: skip
    assert [(reason, message) for _, reason, message in found.refused] == [
        (UNUSABLE, message) for message in case.unusable
    ]
    assert [reason for _, reason, _ in found.waiting] == case.waiting


def test_nobody_is_told_the_same_twice() -> None:
    notices = Notices()
    one, two = entries(1, 1)
    first = [(one, NO_ROOM, "full"), (two, QUEUED, "waits")]
    assert notices.news(first, positions=True) == [
        (one, NO_ROOM, "full", 1),
        (two, QUEUED, "waits", 2),
    ]
    assert notices.news(first, positions=True) == []
    moved = [(two, QUEUED, "waits")]
    assert notices.news(moved, positions=False) == []
    behind = notices.is_behind
    assert behind
    assert notices.news(moved, positions=True) == [(two, QUEUED, "waits", 1)]
    assert notices.is_behind is not behind
    first_now = [(two, NO_ROOM, "full")]
    assert notices.news(first_now, positions=False) == [(two, NO_ROOM, "full", 1)]


def test_only_the_first_are_told_of_their_position() -> None:
    notices = Notices()
    line = [(entry, QUEUED, "waits") for entry in entries(*[1] * (FIRST + 2))]
    assert len(notices.news(line, positions=True)) == FIRST + 2
    assert len(notices.news(line[1:], positions=True)) == FIRST
