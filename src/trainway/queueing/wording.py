"""How those who wait for a place are told so. Pure.

The decision says who waits for whom; in which words depends on who tells it. These are whole
sentences; the queue of a machine has words of its own (`engine/queues/machine_words.py`).
"""

from datetime import UTC, datetime
from typing import Protocol

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

    def turn(self, gang: WaitingGang, ahead: str, first: str) -> str:
        """What those behind it are told; `first` is what the one ahead lacks."""
        ...


class Sentences:
    """The words where nobody says otherwise."""

    def __init__(self) -> None:
        self._turns: dict[tuple[str, bool], str] = {}

    def first(self, gang: WaitingGang, message: str, reservation: Reservation) -> str:
        """What is short, and until when as far as that is known."""
        del gang
        return f"{message} {expected(reservation) or _UNKNOWN}"

    def rescued(self, gang: WaitingGang, message: str, rescue: str) -> str:
        """What is short, and who makes room."""
        del gang
        return f"{message} {rescue}"

    def turn(self, gang: WaitingGang, ahead: str, first: str) -> str:
        """Who is ahead, and what would help; the same for all of a place."""
        key = gang.lane, gang.limit_s is None
        told = self._turns.get(key)
        if told is None:
            told = f"It waits for its turn: {ahead} is ahead. {of_another(ahead, first)}"
            if gang.limit_s is None:
                told += " With a time limit it could start earlier, where that delays nobody."
            self._turns[key] = told
        return told


_UNKNOWN = "When that becomes free is not known, since something that runs has no time limit."


def expected(reservation: Reservation) -> str:
    """When the first of a place starts; empty: nobody knows."""
    if reservation.at is None:
        return ""
    time = datetime.fromtimestamp(reservation.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    end = f", when {reservation.last} has ended" if reservation.last else ""
    return f"It starts at {time} at the latest{end}."


def of_another(name: str, message: str) -> str:
    """What one is told of another."""
    return message.replace("It needs", f"{name} needs", 1).replace("this job", name)
