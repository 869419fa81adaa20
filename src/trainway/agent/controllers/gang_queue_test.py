from dataclasses import dataclass, field

import pytest

from trainway.agent.controllers.gang_queue import (
    DOES_NOT_FIT,
    QUEUED,
    FirstComeFirstServed,
    Verdict,
    decide,
    refuse,
    start,
    turn,
    wait,
)

TOTAL = 4
FULL = "Full"


@dataclass(frozen=True)
class Gang:
    id: str
    size: int = 1
    priority: int = 0
    order: int = 0


@dataclass
class Slots:
    """Room for so much; a gang of more than there is can never start, one of 0 is exempt."""

    free: int = TOTAL
    waits_for_ever: bool = False

    def hopeless(self, gang: Gang) -> Verdict | None:
        if gang.size <= TOTAL:
            return None
        return wait("TooLarge", "never", holds_back=False) if self.waits_for_ever else refuse("no")

    def is_exempt(self, gang: Gang) -> bool:
        return gang.size == 0

    def judge(self, gang: Gang) -> Verdict:
        short = f"needs {gang.size}, {self.free} free"
        return start(self.free) if gang.size <= self.free else wait(FULL, short)

    def take(self, gang: Gang, _place: int) -> None:
        self.free -= gang.size

    def name(self, gang: Gang) -> str:
        return gang.id


@dataclass(frozen=True)
class Case:
    name: str
    gangs: list[Gang]
    start: list[str]
    waiting: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    room: Slots = field(default_factory=Slots)


CASES = [
    Case("nobody waits", [], []),
    Case("as many as fit", [Gang("a", 2), Gang("b", 2)], ["a", "b"]),
    Case("arrival decides", [Gang("b", 3, order=2), Gang("a", 2, order=1)], ["a"], {"b": FULL}),
    Case("priority decides first", [Gang("a", 3, order=1), Gang("b", 3, priority=1, order=2)],
         ["b"], {"a": FULL}),
    Case("nobody slips past the first that does not fit", [Gang("a", 3), Gang("b", 2), Gang("c")],
         ["a"], {"b": FULL, "c": QUEUED}),
    Case("who takes nothing does", [Gang("a", 3), Gang("b", 2), Gang("c", 0), Gang("d")],
         ["a", "c"], {"b": FULL, "d": QUEUED}),
    Case("who can never start holds back nobody", [Gang("a", 5), Gang("b", 4)], ["b"],
         refused=["a"]),
    Case("also where it is let wait", [Gang("a", 5), Gang("b", 4)], ["b"], {"a": "TooLarge"},
         room=Slots(waits_for_ever=True)),
    Case("it is found out behind others too", [Gang("a", 4), Gang("b", 4), Gang("c", 5)], ["a"],
         {"b": FULL}, ["c"]),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_decisions(case: Case) -> None:
    decisions = decide(case.gangs, case.room)
    assert [gang.id for gang, _ in decisions.start] == case.start
    assert {gang.id: reason for gang, reason, _ in decisions.waiting} == case.waiting
    assert [gang.id for gang, _, _ in decisions.refused] == case.refused


def test_places_and_messages() -> None:
    gangs = [Gang("a", 3), Gang("b", 2), Gang("c"), Gang("d"), Gang("e", 5)]
    decisions = decide(gangs, Slots())
    assert decisions.start == [(gangs[0], TOTAL)]
    assert decisions.waiting == [
        (gangs[1], FULL, "needs 2, 1 free"),
        (gangs[2], QUEUED, "waits for its turn, after b"),
        (gangs[3], QUEUED, "waits for its turn, after c"),
    ]
    assert decisions.refused == [(gangs[4], DOES_NOT_FIT, "no")]
    assert turn() == "waits for its turn"


class Lanes(FirstComeFirstServed):
    """Gangs hold each other back by the first letter; `x` is held, and `b` gets room from `v`."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def lane(self, gang: Gang) -> str:
        return gang.id[0]

    def hold(self, gang: Gang, *, is_behind: bool) -> Verdict | None:
        return wait("Held", f"{is_behind}", holds_back=False) if gang.id[0] == "x" else None

    def behind(self, gang: Gang, ahead: str) -> Verdict | None:
        return None if gang.size == 1 else super().behind(gang, ahead)

    def short(self, _gang: Gang, verdict: Verdict, ahead: str | None) -> Verdict:
        if ahead is None:
            verdict.victims = ["v"]
        return verdict

    def took(self, gang: Gang) -> None:
        self.taken.append(gang.id)


def test_a_policy_has_its_say() -> None:
    gangs = [Gang("a1", 3), Gang("x1"), Gang("b1", 2), Gang("b2", 2), Gang("b3"), Gang("b4")]
    policy = Lanes()
    decisions = decide(gangs, Slots(), policy)
    assert policy.taken == [gang.id for gang, _ in decisions.start] == ["a1", "b3"]
    assert [(gang.id, reason, message) for gang, reason, message in decisions.waiting] == [
        ("x1", "Held", "False"),
        ("b1", FULL, "needs 2, 1 free"),
        ("b2", QUEUED, "waits for its turn, after b1"),
        ("b4", FULL, "needs 1, 0 free"),
    ]
    assert decisions.preempted == [("v", gangs[2])]
    assert decisions.heads == [gangs[2], gangs[3], gangs[5]]
    assert decisions.in_order == gangs
