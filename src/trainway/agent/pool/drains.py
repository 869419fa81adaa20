"""Hosts that are set aside, and those whose time is up: they take pods again by themselves."""

from __future__ import annotations

import time

from trainway.agent.pool.state import drain_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainway.agent.base.event_loop import Timer, Timetable
    from trainway.agent.pool.hosts import Host
    from trainway.agent.pool.state import State
    from trainway.json_types import Json

LONGEST_PAUSE = 3600.0
"""A clock may be set: whether the time of a host is up is asked this often at least.

Until when is a time of day, so it is compared with that, and not with the clock of the agent, which
goes on as it was when the agent began.
"""


def is_last(name: str, hosts: Iterable[Host]) -> bool:
    """Whether no other host could take the jobs of this one, which takes some itself. Pure.

    One that does not answer at the moment may come back, and one that never has may have anything.
    """
    known = {host.name: host for host in hosts if not host.retired}
    mine = known.pop(name, None)
    if mine is None or mine.drained:
        return False
    needs_gpus = _has_gpus(mine)
    return not any(
        not host.drained and (_has_gpus(host) or not host.facts or not needs_gpus)
        for host in known.values()
    )


def _has_gpus(host: Host) -> bool:
    capacity = host.capacity()
    return capacity is not None and bool(capacity.gpus)


class Drains:
    """Which hosts of a pool take no new pods, as its state has it."""

    def __init__(
        self,
        state: State,
        loop: Timetable,
        log: Callable[[str], None],
        on_change: Callable[[], None],
    ) -> None:
        self._state = state
        self._loop = loop
        self._log = log
        self._on_change = on_change
        self._timer: Timer | None = None

    def set(self, host: str, terms: Json) -> bool:
        """Let a host take no new pods, or, without `why`, let it; False: it is not written."""
        record = drain_record(host, {**terms, "since": time.time()})
        is_written = self._state.append(record)
        self.look()
        self._on_change()
        return is_written

    def look(self) -> None:
        """Let hosts take pods whose time is up, and look again when that of the next one is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now, ends = time.time(), []
        for name, terms in list(self._state.drained.items()):
            until = float(terms.get("until") or 0)
            if until > now:
                ends.append(until)
            elif until:
                self._log(f"{name} takes pods again: its time is up")
                self._state.append(drain_record(name, {}))
                self._on_change()
        if ends:
            pause = min(min(ends) - now, LONGEST_PAUSE)
            self._timer = self._loop.call_later(pause, self.look)
