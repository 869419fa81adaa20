"""Asks hosts for the places that the queue has found, since other clients may use them too.

A gang starts when all its hosts have said yes; if one says no, what the others gave is given back,
and the gang waits on. Gangs start in the order in which they were asked for, whichever host answers
first. What is held is said again on every new connection.
"""

from __future__ import annotations

from trainway.agent.base.counting import counted
from trainway.agent.pool.placement import WHOLE, Amount

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any, Protocol

    from trainway.agent.pool.ledger import Capacity
    from trainway.agent.pool.placement import Placement
    from trainway.agent.transfer.frames import Hold, HoldLimits, HostRequest, Release
    from trainway.json_types import Json

    class AskedHost(Protocol):
        """As much of a host as is needed to ask it for a place."""

        facts: Json

        @property
        def is_usable(self) -> bool:
            """Whether it answers."""

        def capacity(self) -> Capacity | None:
            """What it has; None: it is not known."""

        def send(self, frame: HostRequest) -> bool:
            """Send a frame; whether it went out."""


HELD = "held"
"""The event with which a host answers."""


class Reservation:
    """The place of one gang."""

    def __init__(self, entry: Any, placement: Placement) -> None:
        self.entry = entry
        self.placement = placement
        self.frames = {
            host: hold_frame(entry, placement, host) for host in set(placement.hosts.values())
        }
        self.missing = set(self.frames)
        """The hosts that have not said yes."""
        self.is_granted = False
        """Whether the gang has been told that it has its place."""


def hold_frame(entry: Any, placement: Placement, host: str) -> Hold:
    """What a gang asks of one host: the sum of its pods there."""
    cpus = memory = 0
    gpus: dict[str, int] = {}
    for item in entry.demand:
        amount = Amount.read(item)
        if placement.hosts.get(amount.pod) != host:
            continue
        cpus += amount.cpus
        memory += amount.memory
        for name in placement.names(amount.pod):
            gpus[name] = gpus.get(name, 0) + min(amount.gpus, WHOLE)
    frame: Hold = {
        "op": "hold",
        "id": entry.id,
        "name": entry.title,
        "cpus": cpus,
        "memory": memory,
        "gpus": gpus,
    }
    if entry.oversubscribe:
        frame["insist"] = True
    return frame


class Reservations:
    """All places that this pool agent has asked for."""

    def __init__(
        self,
        find: Callable[[str], AskedHost | None],
        on_granted: Callable[[Any, Placement], object],
        on_refused: Callable[[Any, bool, str], object],
    ) -> None:
        """`on_refused` gets the gang, whether it had its place before, and why."""
        self._find = find
        self._on_granted = on_granted
        self._on_refused = on_refused
        self._known: dict[str, Reservation] = {}

    def is_pending(self, key: str) -> bool:
        """Whether somebody has been asked and has not answered."""
        found = self._known.get(key)
        return found is not None and not found.is_granted

    def ask(self, entry: Any, placement: Placement) -> None:
        """Have a place; it is granted at once where no host has to be asked."""
        reservation = Reservation(entry, placement)
        self._known[entry.id] = reservation
        for host, frame in reservation.frames.items():
            if not _takes(frame) or not self._tell(host, frame):
                reservation.missing.discard(host)
        self.look()

    def know(self, entry: Any, placement: Placement) -> None:
        """A gang that an earlier pool agent placed has its place; hosts are told when they come."""
        reservation = Reservation(entry, placement)
        reservation.missing.clear()
        reservation.is_granted = True
        self._known[entry.id] = reservation

    def resize(self, entry: Any, placement: Placement) -> None:
        """A gang that has its place has more or less of it: hosts hear what it holds of them.

        What is new was granted under another name, so that nobody need be asked.
        """
        before = self._known.get(entry.id)
        self.know(entry, placement)
        for host, frame in self._known[entry.id].frames.items():
            if before is None or before.frames.get(host) != frame:
                insisting: Hold = {**frame, "insist": True}
                self._tell(host, insisting)
        for host in before.frames if before is not None else ():
            if host not in self._known[entry.id].frames:
                self._tell(host, {"op": "release", "id": entry.id})

    def keep_only(self, keys: Collection[str]) -> None:
        """Give back what is needed no more."""
        for key in [key for key in self._known if key not in keys]:
            self._give_back(key)

    def connected(self, name: str) -> None:
        """A host is there again, and may have forgotten, or given the place away."""
        for reservation in list(self._known.values()):
            frame = reservation.frames.get(name)
            if frame is not None and _takes(frame):
                self._tell(name, frame)

    def lost(self, name: str) -> None:
        """A host will not answer."""
        for key, reservation in list(self._known.items()):
            if name in reservation.missing:
                self._give_back(key)
                self._on_refused(reservation.entry, False, f"host {name} was lost")
        self.look()

    def answered(self, name: str, frame: Json) -> None:
        """A host says whether somebody may be there."""
        key = str(frame["id"])
        reservation = self._known.get(key)
        if reservation is None or name not in reservation.frames:
            if frame.get("ok"):
                self._tell(name, {"op": "release", "id": key})
            return
        if frame.get("ok"):
            reservation.missing.discard(name)
            self.look()
            return
        had_it = reservation.is_granted
        self._give_back(key)
        self._on_refused(reservation.entry, had_it, f"host {name}: {frame.get('error')}")
        self.look()

    def look(self) -> None:
        """Let all start whose turn has come; nobody waits for a host that is silent."""
        for reservation in list(self._known.values()):
            if reservation.is_granted:
                continue
            if not reservation.missing:
                reservation.is_granted = True
                self._on_granted(reservation.entry, reservation.placement)
            elif any(self._will_answer(name) for name in reservation.missing):
                return

    def _will_answer(self, name: str) -> bool:
        host = self._find(name)
        return host is not None and host.is_usable

    def _give_back(self, key: str) -> None:
        reservation = self._known.pop(key)
        for host, frame in reservation.frames.items():
            if _takes(frame):
                self._tell(host, {"op": "release", "id": key})

    def _tell(self, name: str, frame: Hold | Release) -> bool:
        """Say it to a host that arbitrates; False: it does not, or is not there."""
        host = self._find(name)
        if host is None or not host.facts.get("arbitrates"):
            return False
        if frame["op"] == "hold":
            capacity = host.capacity()
            limits: HoldLimits = {}
            if capacity is not None:
                limits = {"cpus": capacity.cpus, "memory": capacity.memory}
            frame = {**frame, "limits": limits}
        return bool(host.send(frame))


def _takes(frame: Hold) -> bool:
    return bool(frame["cpus"] or frame["memory"] or frame["gpus"])


def used_by(others: Sequence[Json]) -> str:
    """Who else has something of a host, for people."""
    texts = []
    for item in others:
        parts = []
        if item.get("cpus"):
            parts.append(counted(int(item["cpus"]) / WHOLE, "CPU"))
        if item.get("memory"):
            parts.append(f"{int(item['memory']) / 2**30:.4g} GiB of memory")
        if item.get("gpus"):
            parts.append(f"GPU {', '.join(sorted(item['gpus']))}")
        client = item.get("client") or "another client"
        texts.append(f"{client} ({item.get('name')}: {', '.join(parts)})")
    return ", ".join(texts)
