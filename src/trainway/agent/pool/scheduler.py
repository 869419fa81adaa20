"""Carries out what the queue decides, and tells those who wait why."""

from __future__ import annotations

from trainway.agent.pool.growth import is_growth
from trainway.agent.pool.queue import NO_ROOM, Hindrances, Notices, decide
from trainway.agent.pool.reservations import Reservations, used_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from trainway.agent.base.event_loop import EventLoop, Timer
    from trainway.agent.pool.hosts import Host, Hosts
    from trainway.agent.pool.ledger import Ledger
    from trainway.agent.pool.placement import Placement
    from trainway.json_types import Json

    class ScheduledPool(Protocol):
        """The pool, as far as its queue has to do with it."""

        loop: EventLoop
        jitter: float

        @abstractmethod
        def guarded(self, gang: Any, call: Callable[..., object], *arguments: object) -> str:
            """Call into a job or a cluster; an error ends that one, and is given back."""

        @abstractmethod
        def schedule(self) -> None:
            """Let the queue move, in the next turn of the loop."""


POSITIONS_SECONDS = 1.0
"""How often those that wait may be told of a new position."""


class Scheduler:
    """The pool's own queue: jobs without a cluster, and clusters without their nodes."""

    def __init__(self, pool: ScheduledPool, hosts: Hosts, ledger: Ledger) -> None:
        self._pool = pool
        self._hosts = hosts
        self._ledger = ledger
        self._notices = Notices()
        self._told_at = float("-inf")
        self._timer: Timer | None = None
        self.reservations = Reservations(hosts.get, self._granted, self._refused)
        self._refused_lately: set[str] = set()
        """The gangs that a host has just refused, since another client was quicker."""

    def _granted(self, entry: Any, placement: Placement) -> None:
        if entry.wants_place:
            self._pool.guarded(entry, entry.place, placement)
            if is_growth(entry):
                self._ledger.release(entry.id)  # its gang holds it from now on
        else:
            self._ledger.release(entry.id)
            self._pool.schedule()

    def _refused(self, entry: Any, had_it: bool, message: str) -> None:
        self._ledger.release(entry.id)
        if had_it:
            self._pool.guarded(entry, entry.displaced, message)
        else:
            self._refused_lately.add(entry.id)
            if entry.wants_place:
                self._pool.guarded(entry, entry.waiting, NO_ROOM, message, 1)
        self._look_again()

    def turn(self, gangs: Sequence[Any], allocations: Sequence[Any]) -> None:
        """Start whatever fits now."""
        self._book(allocations)
        self.reservations.keep_only(self._ledger.holders())
        waiting = [*gangs, *(item for item in allocations if item.wants_place)]
        entries = [entry for entry in waiting if not self._is_asked_for(entry.id)]
        if not entries:
            return
        hosts = [host for host in self._hosts.all() if not host.retired]
        settled = not any(host.is_new for host in hosts)
        decision = decide(
            entries,
            self._ledger,
            self._hosts.usable(),
            complete=bool(hosts)
            and all(self._ledger.capacity(host.name) or host.defect for host in hosts),
            settled=settled,
            absent={host.name: host.absence for host in hosts if host.absence},
            hindrances=Hindrances(
                used={
                    host.name: used_by(host.facts["holdings"])
                    for host in hosts
                    if host.facts.get("holdings")
                },
                defects={host.name: host.defect for host in hosts if host.defect},
            ),
        )
        for entry, placement in decision.start:
            self._ledger.hold(entry.id, entry.demand, placement)
        for entry, placement in decision.start:
            self.reservations.ask(entry, placement)
        for entry, reason, message in decision.refused:
            self._pool.guarded(entry, entry.refuse, message, reason)
        self._tell(decision.waiting)
        if not settled:
            self._look_again()

    def _is_asked_for(self, key: str) -> bool:
        """Whether hosts have not yet answered, or have just said no."""
        return self.reservations.is_pending(key) or key in self._refused_lately

    def _book(self, allocations: Sequence[Any]) -> None:
        """Have what clusters hold in the books, and nothing else of theirs."""
        held = {item.id: item for item in allocations if item.placement is not None}
        for key in [key for key in self._ledger.holders() if key.startswith("cluster/")]:
            if key not in held and not self.reservations.is_pending(key):
                self._ledger.release(key)
        for key, item in held.items():
            if self._ledger.holding(key) is None:
                self._ledger.hold(key, item.demand, item.placement)
                if not item.is_given:
                    self.reservations.know(item, item.placement)

    def _tell(self, waiting: list[tuple[Any, str, str]]) -> None:
        now = self._hosts.now()
        due = now - self._told_at >= POSITIONS_SECONDS
        for entry, reason, message, position in self._notices.news(waiting, positions=due):
            self._pool.guarded(entry, entry.waiting, reason, message, position)
        if due:
            self._told_at = now
        elif self._notices.is_behind:
            self._look_again()

    def _look_again(self) -> None:
        if self._timer is None:
            delay = POSITIONS_SECONDS + self._pool.jitter
            self._timer = self._pool.loop.call_later(delay, self._again)

    def _again(self) -> None:
        self._timer = None
        self._refused_lately.clear()
        self._pool.schedule()

    def host_status(self, host: Host) -> Json:
        """What there is to know of a host."""
        capacity, room = self._ledger.capacity(host.name), self._ledger.room(host.name)
        status: Json = {"name": host.name, "state": host.state, "address": host.address}
        if capacity is not None and room is not None:
            status.update(capacity.to_json(), free=room.to_json())
        if host.failure is not None and not host.is_ready:
            status.update(message=host.failure.message, hint=host.failure.hint)
        if host.retired:
            status.update(retired=True)
        if host.drained:
            status.update(drained=host.drained, drainTerms=host.drain_terms)
        for name in ("program", "step", "python"):
            if host.settings.get("step"):
                status[name] = host.settings[name]
        return status
