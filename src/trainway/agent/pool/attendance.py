"""Tells rented machines that their server is there, for as long as it is.

A machine that hears nothing any more shuts itself down after a while, if nothing runs on it
(`host/self_shutdown.py`): whoever rented it may be gone for good. How long that is depends on what
the machine is for:

- one that belongs to no cluster yet, or to none any more: the margin that it was given;
- a worker of a worker pool: the same, since it is there for jobs that only its server can send;
- a cluster with autostop: as long as that, and the margin;
- a cluster without autostop: for ever. Nobody said that it may stop.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from trainway.agent.pool.allocation import Allocation
    from trainway.agent.transfer.frames import Attend
    from trainway.json_types import Json


SETTING = "unattended"
"""Where the terms stand in the settings of a host; only rented machines have them."""
SECONDS = 10.0
"""How often machines hear that somebody is there."""


def seconds_alone(terms: Json, allocation: Allocation | None) -> float | None:
    """How long a machine waits for its server once it is alone; None: for ever."""
    margin = float(terms["margin"])
    if allocation is None or terms.get("worker"):
        return margin
    autostop = allocation.autostop
    if autostop is None:
        return None
    if terms.get("loses") and not autostop.down:
        return None  # it was to be stopped, and a shutdown would lose its disk
    return autostop.minutes * 60.0 + margin


def holder_of(name: str, allocations: Iterable[Allocation]) -> Allocation | None:
    """The cluster that has a host."""
    for allocation in allocations:
        if allocation.placement is not None and name in allocation.placement.hosts.values():
            return allocation
    return None


def told(terms: Json, allocation: Allocation | None) -> Attend:
    """What is said to a machine."""
    frame: Attend = {"op": "attend", "seconds": seconds_alone(terms, allocation)}
    if terms.get("command"):
        frame["command"] = str(terms["command"])
    return frame


class Attendance:
    """Says so every few seconds. `pool` is the agent; see `pool.py` for what it offers."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def look(self) -> None:
        """Begin, and go on for as long as the agent lives."""
        self.tell()
        self._pool.loop.call_later(SECONDS, self.look)

    def tell(self) -> None:
        """Say it now, unless no server listens to us: then they shall notice."""
        if self._pool.is_attended:
            self._tell(self._pool.clusters.allocations())

    def _tell(self, allocations: Sequence[Allocation]) -> None:
        for host in self._pool.hosts():
            terms = host.settings.get(SETTING)
            if terms:
                host.send(told(terms, holder_of(host.name, allocations)))
