"""How those who wait for a place are told so. Pure.

The decision says who waits for whom; in which words depends on who tells it. These are whole
sentences; the queue of a machine has words of its own (`engine/queues/machine_words.py`).
"""

from datetime import UTC, datetime
from typing import Final, Protocol

from trainway.agent.controllers.gang_queue import QUEUED, Verdict, wait
from trainway.queueing.reservation import Reservation
from trainway.queueing.snapshot import WaitingGang


class Wording(Protocol):
    """What is said of a place; asked for each job in the order of the decision."""

    def first(self, gang: WaitingGang, message: str, reservation: Reservation) -> str:
        """What the first of a place is told: what is short, and until when."""
        ...

    def rescued(self, gang: WaitingGang, message: str, rescue: str) -> str:
        """What it is told if others make room for it."""
        ...

    def turn(self, gang: WaitingGang) -> Verdict:
        """What those behind it are told; one object for all who are told the same."""
        ...


class Sentences:
    """The words where nobody says otherwise."""

    def __init__(self) -> None:
        self._ahead: dict[str, tuple[str, str]] = {}
        """By place: its first, and what that lacks."""
        self._turns: dict[tuple[str, bool], Verdict] = {}

    def first(self, gang: WaitingGang, message: str, reservation: Reservation) -> str:
        """What is short, and until when as far as that is known."""
        self._ahead[gang.lane] = gang.name or gang.id, message
        return f"{message} {expected(reservation) or _UNKNOWN}"

    def rescued(self, gang: WaitingGang, message: str, rescue: str) -> str:
        """What is short, and who makes room."""
        told = f"{message} {rescue}"
        self._ahead[gang.lane] = gang.name or gang.id, told
        return told

    def turn(self, gang: WaitingGang) -> Verdict:
        """Who is ahead, and what would help; the same for all of a place."""
        key = gang.lane, gang.limit_s is None
        verdict = self._turns.get(key)
        if verdict is None:
            ahead, lacks = self._ahead[gang.lane]
            told = f"It waits for its turn: {ahead} is ahead. {of_another(ahead, lacks)}"
            if gang.limit_s is None:
                told += " With a time limit it could start earlier, where that delays nobody."
            verdict = self._turns[key] = wait(QUEUED, told, holds_back=False)
        return verdict


_LAST: Final = datetime.max.replace(tzinfo=UTC).timestamp() - 1
_UNKNOWN = "When that becomes free is not known, since something that runs has no time limit."


def expected(reservation: Reservation) -> str:
    """When the first of a place starts; empty: nobody knows, or it is later than any date."""
    if reservation.at is None or reservation.at > _LAST:
        return ""
    time = datetime.fromtimestamp(reservation.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    end = f", when {reservation.last} has ended" if reservation.last else ""
    return f"It starts at {time} at the latest{end}."


def of_another(name: str, message: str) -> str:
    """What one is told of another."""
    return message.replace("It needs", f"{name} needs", 1).replace("this job", name)
