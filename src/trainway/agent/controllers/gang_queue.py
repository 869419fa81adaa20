"""Which gangs start now, and why the others wait: one rule for all queues. Pure.

`decide` gets a snapshot, the gangs that wait and the room that there is, and gives a verdict for
each. Gangs go by priority, then by arrival, and the first that does not fit holds back all behind
it, so that a large one is never starved by small ones; nothing is backfilled. One that could not
start even if nobody else were there holds back nobody.

What fits where is not decided here: a `Room` knows that, which may be filled in the course of a
decision and is nobody else's. There are three: this machine (`engine/queue.py`), the hosts of a
pool (`agent/pool/queue.py`), and the nodes of a cluster (`agent/pool/cluster_queue.py`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Iterable
    from typing import Any, Protocol

    class Room(Protocol):
        """What is free, and what is said of gangs that do not fit into it.

        A gang is anything with `priority` and `order`.
        """

        @abstractmethod
        def hopeless(self, gang: Any) -> Verdict | None:
            """What becomes of a gang that can never start; None: it may, or nobody knows.

            It is asked for every gang, also for those that are held back.
            """

        @abstractmethod
        def is_exempt(self, gang: Any) -> bool:
            """Whether a gang need not wait for its turn, since it takes nothing from anybody."""

        @abstractmethod
        def judge(self, gang: Any) -> Verdict:
            """What becomes of a gang whose turn it is."""

        @abstractmethod
        def take(self, gang: Any, place: Any) -> None:
            """A gang has its place: so much less is free for those behind it."""

        @abstractmethod
        def name(self, gang: Any) -> str:
            """What those behind a gang are told that they wait for; empty: nothing."""


QUEUED, DOES_NOT_FIT = "Queued", "DoesNotFit"
"""The reasons of those who wait for their turn, and of those who can never start."""

START, WAIT, REFUSE = "start", "wait", "refuse"


class Verdict:
    """What becomes of one gang."""

    __slots__ = ("holds_back", "message", "outcome", "place", "reason")

    def __init__(
        self,
        outcome: str,
        place: Any = None,
        reason: str = "",
        message: str = "",
        *,
        holds_back: bool = False,
    ) -> None:
        self.outcome = outcome
        self.place = place
        """Where it starts, in the terms of its room."""
        self.reason = reason
        self.message = message
        self.holds_back = holds_back
        """Whether those behind it wait for it."""


def start(place: Any) -> Verdict:
    """It starts there."""
    return Verdict(START, place)


def wait(reason: str, message: str, *, holds_back: bool = True) -> Verdict:
    """It waits, and that is why."""
    return Verdict(WAIT, None, reason, message, holds_back=holds_back)


def refuse(message: str, reason: str = DOES_NOT_FIT) -> Verdict:
    """It can never start, and that is why."""
    return Verdict(REFUSE, None, reason, message)


def turn(ahead: str = "") -> str:
    """What a gang is told that is held back by others."""
    return "waits for its turn" + (f", after {ahead}" if ahead else "")


class Decisions:
    """What becomes of each gang, in the order of the queue."""

    def __init__(self) -> None:
        self._verdicts: list[tuple[Any, Verdict]] = []

    def add(self, gang: Any, verdict: Verdict) -> None:
        """Note what becomes of the next one."""
        self._verdicts.append((gang, verdict))

    def _of(self, outcome: str) -> list[tuple[Any, Verdict]]:
        return [item for item in self._verdicts if item[1].outcome == outcome]

    @property
    def start(self) -> list[tuple[Any, Any]]:
        """Whom to start where."""
        return [(gang, verdict.place) for gang, verdict in self._of(START)]

    @property
    def waiting(self) -> list[tuple[Any, str, str]]:
        """Who waits, with reason and message; the position of each is its place in the list."""
        return [(gang, item.reason, item.message) for gang, item in self._of(WAIT)]

    @property
    def refused(self) -> list[tuple[Any, str, str]]:
        """Who can never start, with reason and message."""
        return [(gang, item.reason, item.message) for gang, item in self._of(REFUSE)]


def in_order(gangs: Iterable[Any]) -> list[Any]:
    """By priority, then by arrival."""
    return sorted(gangs, key=lambda gang: (-gang.priority, gang.order))


def decide(gangs: Iterable[Any], room: Room) -> Decisions:
    """Start as many as fit, in order."""
    decisions = Decisions()
    is_blocked, ahead = False, ""
    for gang in in_order(gangs):
        verdict = room.hopeless(gang)
        if verdict is None and is_blocked and not room.is_exempt(gang):
            verdict = wait(QUEUED, turn(ahead))
        if verdict is None:
            verdict = room.judge(gang)
        if verdict.outcome == START:
            room.take(gang, verdict.place)
        elif verdict.holds_back:
            is_blocked, ahead = True, room.name(gang)
        decisions.add(gang, verdict)
    return decisions
