"""Which gangs start now, and why the others wait: one rule for all queues. Pure.

`decide` gets a snapshot, the gangs that wait and the room that there is, and gives a verdict for
each. Gangs go by priority, then by arrival, and the first that does not fit holds back all behind
it, so that a large one is never starved by small ones; nothing is backfilled. One that could not
start even if nobody else were there holds back nobody.

A `Policy` may say otherwise: in which order gangs go, who waits for a quota, who may start past the
one that holds back the others, and who makes room for it. Only the managed queue has one
(`trainway/queueing`); without one it is as above.

What fits where is not decided here: a `Room` knows that, which may be filled in the course of a
decision and is nobody else's. There are three: this machine (`engine/queue.py`), the hosts of a
pool (`agent/pool/queue.py`), and the nodes of a cluster (`agent/pool/cluster_queue.py`).
"""

from __future__ import annotations

from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Iterable, Sequence
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

    class Policy(Protocol):
        """What is decided of gangs beside what fits."""

        @abstractmethod
        def in_order(self, gangs: Iterable[Any]) -> Iterable[Any]:
            """All of them, those first whose turn comes first."""

        @abstractmethod
        def lane(self, gang: Any) -> Any:
            """Who holds back whom: only gangs of the same lane do."""

        @abstractmethod
        def again(self, gang: Any) -> Verdict | None:
            """What becomes of a gang like one that waits for its turn already; None: ask further.

            Only quicker than to ask: it waits and holds back nobody, and is told the same that
            `hold` and `behind` would come to.
            """

        @abstractmethod
        def hold(self, gang: Any, *, is_behind: bool) -> Verdict | None:
            """Why a gang may not start though there were room; None: it may.

            One behind others may be told here already that it waits for its turn.
            """

        @abstractmethod
        def behind(self, gang: Any, ahead: str) -> Verdict | None:
            """What becomes of a gang behind one that waits; None: it may start past that one."""

        @abstractmethod
        def short(self, gang: Any, verdict: Verdict, ahead: str | None) -> Verdict:
            """What becomes of a gang that does not fit; `ahead` is None for the first of a lane."""

        @abstractmethod
        def took(self, gang: Any) -> None:
            """A gang starts."""


QUEUED, DOES_NOT_FIT = "Queued", "DoesNotFit"
"""The reasons of those who wait for their turn, and of those who can never start."""

START, WAIT, REFUSE = "start", "wait", "refuse"


class Verdict:
    """What becomes of one gang."""

    __slots__ = ("holds_back", "message", "outcome", "place", "reason", "victims")

    def __init__(
        self,
        outcome: str,
        place: Any = None,
        reason: str = "",
        message: str = "",
        *,
        holds_back: bool = False,
        victims: Sequence[Any] = (),
    ) -> None:
        self.outcome = outcome
        self.place = place
        """Where it starts, in the terms of its room."""
        self.reason = reason
        self.message = message
        self.holds_back = holds_back
        """Whether those behind it wait for it."""
        self.victims = victims
        """Who has to make room for it, in the terms of the policy."""


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

    def __init__(self, gangs: list[Any], verdicts: list[Verdict]) -> None:
        self._gangs = gangs
        self._verdicts = verdicts
        """One for each; no pairs, which would be ten thousand objects for ten thousand gangs."""

    def _of(self, outcome: str) -> list[tuple[Any, Verdict]]:
        pairs = zip(self._gangs, self._verdicts)  # noqa: B905 - not in Python 3.8
        return [item for item in pairs if item[1].outcome == outcome]

    @property
    def start(self) -> list[tuple[Any, Any]]:
        """Whom to start where."""
        return [(gang, verdict.place) for gang, verdict in self._of(START)]

    @cached_property
    def waiting(self) -> list[tuple[Any, str, str]]:
        """Who waits, with reason and message; the position of each is its place in the list."""
        return [(gang, item.reason, item.message) for gang, item in self._of(WAIT)]

    @property
    def refused(self) -> list[tuple[Any, str, str]]:
        """Who can never start, with reason and message."""
        return [(gang, item.reason, item.message) for gang, item in self._of(REFUSE)]

    @property
    def in_order(self) -> list[Any]:
        """All of them."""
        return list(self._gangs)

    @property
    def heads(self) -> list[Any]:
        """Who waits and holds back others."""
        return [gang for gang, item in self._of(WAIT) if item.holds_back]

    @property
    def preempted(self) -> list[tuple[Any, Any]]:
        """Who has to make room, and for whom."""
        return [(victim, gang) for gang, item in self._of(WAIT) for victim in item.victims]


def in_order(gangs: Iterable[Any]) -> list[Any]:
    """By priority, then by arrival."""
    return sorted(gangs, key=lambda gang: (-gang.priority, gang.order))


class FirstComeFirstServed:
    """The policy where nobody says otherwise."""

    def in_order(self, gangs: Iterable[Any]) -> Iterable[Any]:
        """By priority, then by arrival."""
        return in_order(gangs)

    def lane(self, gang: Any) -> Any:  # noqa: ARG002 - of the protocol
        """There is one."""
        return ""

    def again(self, gang: Any) -> Verdict | None:  # noqa: ARG002 - of the protocol
        """Nothing is remembered."""
        return None

    def hold(self, gang: Any, *, is_behind: bool) -> Verdict | None:  # noqa: ARG002 - of the protocol
        """There are no quotas."""
        return None

    def behind(self, gang: Any, ahead: str) -> Verdict | None:  # noqa: ARG002 - of the protocol
        """Nothing is backfilled."""
        return wait(QUEUED, turn(ahead))

    def short(self, gang: Any, verdict: Verdict, ahead: str | None) -> Verdict:  # noqa: ARG002 - of the protocol
        """Nobody is preempted."""
        return verdict

    def took(self, gang: Any) -> None:
        """Nothing is counted."""


_USUAL = FirstComeFirstServed()


def decide(gangs: Iterable[Any], room: Room, policy: Policy = _USUAL) -> Decisions:
    """Start as many as fit, in order."""
    ordered = list(policy.in_order(gangs))
    verdicts: list[Verdict] = []
    ahead: dict[Any, str] = {}
    for gang in ordered:
        verdict = policy.again(gang)
        if verdict is None:
            verdict = _asked(gang, room, policy, ahead)
        verdicts.append(verdict)
    return Decisions(ordered, verdicts)


def _asked(gang: Any, room: Room, policy: Policy, ahead: dict[Any, str]) -> Verdict:
    """What becomes of the next gang; `ahead` has by lane who holds back those behind it."""
    lane = policy.lane(gang)
    first = ahead.get(lane)
    verdict = room.hopeless(gang) or policy.hold(gang, is_behind=first is not None)
    if verdict is None and first is not None and not room.is_exempt(gang):
        verdict = policy.behind(gang, first)
    if verdict is None:
        verdict = room.judge(gang)
        if verdict.outcome == WAIT:
            verdict = policy.short(gang, verdict, first)
    if verdict.outcome == START:
        room.take(gang, verdict.place)
        policy.took(gang)
    elif verdict.holds_back:
        ahead[lane] = room.name(gang)
    return verdict
