"""Who may start now, and why the others wait. Pure, but for the books that it is given.

Gangs wait in the order of their priority, then of their arrival, and the first that does not fit
holds back all behind it, so that a large one is never starved by small ones. One that requested
nothing takes nothing from anybody, and never waits for room.
"""

from __future__ import annotations

from trainway.agent.pool.placement import place, place_anyway, shortage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from trainway.agent.pool.ledger import Ledger
    from trainway.agent.pool.placement import Placement, Room
    from trainway.json_types import Json


QUEUED, NO_ROOM, NO_HOSTS = "Queued", "NoRoom", "NoHosts"
TURN = "waits for its turn"
UNSETTLED = "waits for hosts to answer"
NAMED = 3
"""So many hosts are named in a message."""
FIRST = 50
"""Only so many are told again when their position changes."""


class Decision:
    """What to do with those who wait."""

    def __init__(self) -> None:
        self.start: list[tuple[Any, Placement]] = []
        """Whom to start where; their places are in the books already."""
        self.waiting: list[tuple[Any, str, str]] = []
        """The others in their order, with reason and message."""
        self.refused: list[tuple[Any, str]] = []
        """Those that do not fit even on empty hosts, with the numbers."""
        self.unusable: list[tuple[Any, str]] = []
        """Those for which hosts would have to be mended first, with what is wrong with them."""


class Hindrances:
    """What keeps jobs from hosts that are there."""

    def __init__(
        self, used: Mapping[str, str] | None = None, defects: Mapping[str, str] | None = None
    ) -> None:
        self.used = used or {}
        """Hosts that other clients use, and who they are."""
        self.defects = defects or {}
        """Hosts that somebody has to mend, and what is wrong: who has not begun fails for it."""


def decide(
    entries: Iterable[Any],
    ledger: Ledger,
    usable: Iterable[str],
    *,
    complete: bool,
    settled: bool = True,
    absent: Mapping[str, str] | None = None,
    hindrances: Hindrances | None = None,
) -> Decision:
    """Give places to as many as fit, in order.

    Nobody is refused unless it is known of all hosts what they have (`complete`). Until all hosts
    had time to answer (`settled`), gangs wait, that they be spread over all of them. `absent` has
    the hosts that are not there, with the reason.
    """
    known = hindrances or Hindrances()
    decision = Decision()
    rooms = ledger.rooms(usable)
    is_blocked = False
    for entry in sorted(entries, key=lambda entry: (-entry.priority, entry.order)):
        if is_blocked and not _is_free(entry):
            decision.waiting.append((entry, QUEUED, TURN))
            continue
        if not settled and len(entry.demand) > 1:
            is_blocked = True
            decision.waiting.append((entry, QUEUED, UNSETTLED))
            continue
        placement = place(entry.demand, rooms)
        if placement is None and entry.oversubscribe:
            placement = place_anyway(entry.demand, rooms)
        if placement is not None:
            ledger.hold(entry.id, entry.demand, placement)
            decision.start.append((entry, placement))
            continue
        empty = [room for room in ledger.empty_rooms() if room.name not in known.defects]
        if known.defects and complete and entry.is_new and place(entry.demand, empty) is None:
            decision.unusable.append((entry, _defective(entry.demand, empty, known.defects)))
            continue
        if not rooms:
            decision.waiting.append((entry, NO_HOSTS, _no_hosts(absent or {})))
            continue
        if complete and place(entry.demand, empty) is None:
            decision.refused.append((entry, shortage(entry.demand, empty, empty=True)))
            continue
        is_blocked = True
        missing = f"; not available: {_listed(absent, '{} ({})')}" if absent else ""
        busy = f"; in use: {_listed(known.used, '{} by {}')}" if known.used else ""
        why = shortage(entry.demand, rooms) + busy + missing
        decision.waiting.append((entry, NO_ROOM, why))
    return decision


def _no_hosts(absent: Mapping[str, str]) -> str:
    if not absent:
        return "the pool has no hosts"
    return f"no host answers: {_listed(absent, '{}: {}')}"


def _defective(demand: Sequence[Json], rooms: Sequence[Room], defects: Mapping[str, str]) -> str:
    """Why a gang cannot run on the hosts that are left."""
    broken = _listed(defects, "{}: {}")
    if not rooms:
        return f"no host can be used: {broken}"
    return f"{shortage(demand, rooms, empty=True)}; other hosts cannot be used: {broken}"


def _listed(absent: Mapping[str, str], form: str) -> str:
    """A few of the hosts that are not there, and how many more there are."""
    named = [form.format(name, reason) for name, reason in list(absent.items())[:NAMED]]
    more = [f"and {len(absent) - NAMED} more"] if len(absent) > NAMED else []
    return "; ".join([*named, *more])


def _is_free(entry: Any) -> bool:
    """Whether it takes nothing from anybody, or does not care."""
    return entry.oversubscribe or not any(
        item.get(name) for item in entry.demand for name in ("cpus", "memory", "gpus")
    )


class Notices:
    """What each was last told about waiting, so that nobody is told the same twice."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, str, int]] = {}
        self.is_behind = False
        """Whether somebody has moved up and was not told."""

    def news(
        self, waiting: Iterable[tuple[Any, str, str]], *, positions: bool
    ) -> list[tuple[Any, str, str, int]]:
        """Whom to tell what now: newcomers, and of the first those who wait for another reason.

        Those who merely moved up are told where `positions` may be told.
        """
        found = []
        self.is_behind = False
        told: dict[str, tuple[str, str, int]] = {}
        for position, (entry, reason, message) in enumerate(waiting, start=1):
            now = (reason, message, position)
            before = self._told.get(entry.id)
            is_first = position <= FIRST
            if (
                before is None
                or (is_first and reason != before[0])
                or (is_first and positions and now != before)
            ):
                found.append((entry, *now))
                told[entry.id] = now
            else:
                told[entry.id] = before
                self.is_behind = self.is_behind or (is_first and now != before)
        self._told = told
        return found
