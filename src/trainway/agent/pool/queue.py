"""The queue of a pool: what of its hosts is free, and why a gang does not get it. Pure.

The rule by which gangs start is in `controllers/gang_queue.py`. One that requested nothing takes
nothing from anybody, and never waits for room.
"""

from __future__ import annotations

from trainway.agent.controllers import gang_queue
from trainway.agent.controllers.gang_queue import QUEUED, refuse, start, wait
from trainway.agent.pool.allocation import fill
from trainway.agent.pool.growth import is_growth, place_some
from trainway.agent.pool.placement import place_anyway, shortage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from trainway.agent.controllers.gang_queue import Decisions, Verdict
    from trainway.agent.pool.ledger import Ledger
    from trainway.agent.pool.placement import Placement, Room
    from trainway.json_types import Json


NO_ROOM, NO_HOSTS, UNUSABLE = "NoRoom", "NoHosts", "HostUnusable"
UNSETTLED = "waits for hosts to answer"
NAMED = 3
"""How many hosts a message names."""
FIRST = 50
"""How many of those that wait are told again when their position changes."""


class Hindrances:
    """What keeps jobs from hosts that are there."""

    def __init__(
        self, used: Mapping[str, str] | None = None, defects: Mapping[str, str] | None = None
    ) -> None:
        self.used = used or {}
        """The hosts that other clients use, and who they are."""
        self.defects = defects or {}
        """The hosts that somebody has to mend, and what is wrong; a gang that has not begun fails
        for it."""


class HostRoom:
    """What is free on the hosts of a pool while a decision is made.

    Whether a gang would fit on empty hosts is asked only when its turn has come: a pool has many
    gangs and many hosts, and to try them all in every round would cost too much.
    """

    def __init__(
        self,
        rooms: Sequence[Room],
        empty: Sequence[Room],
        *,
        complete: bool,
        settled: bool = True,
        absent: Mapping[str, str] | None = None,
        hindrances: Hindrances | None = None,
    ) -> None:
        self._rooms = [room.copy() for room in rooms]
        self._known = hindrances or Hindrances()
        self._empty = [room for room in empty if room.name not in self._known.defects]
        self._complete = complete
        self._settled = settled
        self._absent = absent or {}
        self._grown: dict[tuple[str, str], set[str]] = {}
        """The hosts that gangs are given to grow on, by which of their pods must not share one."""

    def hopeless(self, _entry: Any) -> Verdict | None:
        """Nobody knows before its turn."""
        return None

    def is_exempt(self, entry: Any) -> bool:
        """Whether it takes nothing from anybody, or does not care."""
        return entry.oversubscribe or not any(
            item.get(name) for item in entry.demand for name in ("cpus", "memory", "gpus")
        )

    def judge(self, entry: Any) -> Verdict:
        """Where it goes, or why it cannot."""
        if not self._settled and len(entry.demand) > 1:
            return wait(QUEUED, UNSETTLED)
        apart = entry.apart if is_growth(entry) else None
        placement = place_some(entry, self._rooms, self._grown.get(apart, ()) if apart else ())
        if placement is None and entry.oversubscribe:
            placement = place_anyway(entry.demand, self._rooms)
        if placement is not None:
            return start(placement)
        if is_growth(entry):
            return wait(NO_ROOM, shortage(entry.demand, self._rooms), holds_back=False)
        defects = self._known.defects
        if defects and entry.is_new and not self._may_fit(entry):
            return refuse(_defective(entry.demand, self._empty, defects), UNUSABLE)
        if not self._rooms:
            return wait(NO_HOSTS, _no_hosts(self._absent), holds_back=False)
        if not self._may_fit(entry):
            return refuse(shortage(entry.demand, self._empty, empty=True))
        return wait(NO_ROOM, shortage(entry.demand, self._rooms) + self._elsewhere())

    def _may_fit(self, entry: Any) -> bool:
        """Whether it could start if nobody else were there, as far as the hosts are known."""
        return not self._complete or place_some(entry, self._empty) is not None

    def _elsewhere(self) -> str:
        """Which hosts others use, and which are not there."""
        used, absent = self._known.used, self._absent
        busy = f"; in use: {_listed(used, '{} by {}')}" if used else ""
        return busy + (f"; not available: {_listed(absent, '{} ({})')}" if absent else "")

    def take(self, entry: Any, placement: Placement) -> None:
        """So much less is free for those behind it."""
        fill(self._rooms, entry.demand, placement)
        if is_growth(entry) and entry.apart:
            self._grown.setdefault(entry.apart, set()).update(placement.hosts.values())

    def name(self, _entry: Any) -> str:
        """Nobody is named: a pool has long queues, and all would be told anew at each start."""
        return ""


def decide(
    entries: Iterable[Any],
    ledger: Ledger,
    usable: Iterable[str],
    *,
    complete: bool,
    settled: bool = True,
    absent: Mapping[str, str] | None = None,
    hindrances: Hindrances | None = None,
) -> Decisions:
    """Find places for as many as fit, in order; the books stay as they are.

    Nobody is refused unless it is known of all hosts what they have (`complete`). Until all hosts
    had time to answer (`settled`), gangs wait, that they be spread over all of them. `absent` has
    the hosts that are not there, with the reason.
    """
    room = HostRoom(
        ledger.rooms(usable),
        ledger.empty_rooms(),
        complete=complete,
        settled=settled,
        absent=absent,
        hindrances=hindrances,
    )
    return gang_queue.decide(entries, room)


def _no_hosts(absent: Mapping[str, str]) -> str:
    if not absent:
        return "the pool has no hosts"
    return f"no host is available: {_listed(absent, '{}: {}')}"


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
