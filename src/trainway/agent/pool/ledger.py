"""What is held of the hosts, and by whom; the rest is free. Pure.

Whoever gives out places has one: the pool for its hosts, a cluster for what it holds of them.
"""

from __future__ import annotations

from trainway.agent.pool.placement import WHOLE, Amount, Room, thousandths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from trainway.agent.pool.placement import Placement
    from trainway.json_types import Json

    Held = list[tuple[str, Amount, list[str]]]


class Capacity:
    """All that a host has for jobs; None is not counted."""

    def __init__(
        self, cpus: int | None = None, memory: int | None = None, gpus: Sequence[str] = ()
    ) -> None:
        self.cpus = cpus
        self.memory = memory
        self.gpus = list(gpus)

    @classmethod
    def read(cls, facts: Json, settings: Json) -> Capacity:
        """What a host says it has, unless its owner lends out less or more."""
        given = {**facts, **{key: value for key, value in settings.items() if value is not None}}
        cpus, memory, gpus = given.get("cpus"), given.get("memory"), given.get("gpus") or []
        names = _device_names(gpus, [str(name) for name in facts.get("gpus") or []])
        return cls(
            None if cpus is None else thousandths(cpus),
            None if memory is None else int(memory),
            names,
        )

    def room(self, name: str) -> Room:
        """The host with nobody in it."""
        return Room(name, self.cpus, self.memory, dict.fromkeys(self.gpus, WHOLE))

    def to_json(self) -> Json:
        """For the state of the pool."""
        cpus = None if self.cpus is None else self.cpus / WHOLE
        return {"cpus": cpus, "memory": self.memory, "gpus": len(self.gpus)}


def _device_names(gpus: object, found: list[str]) -> list[str]:
    """So many of the devices that were found, or names of our own where there are fewer."""
    if isinstance(gpus, list):
        return [str(name) for name in gpus]
    wanted = int(str(gpus))
    return (found + [str(number) for number in range(wanted) if str(number) not in found])[:wanted]


class Ledger:
    """The books of some hosts."""

    def __init__(self) -> None:
        self._capacities: dict[str, Capacity] = {}
        self._rooms: dict[str, Room] = {}
        self._held: dict[str, Held] = {}
        self._others: dict[str, Sequence[Json]] = {}
        """What other clients have of each host, as it tells us."""

    def set_capacity(self, host: str, capacity: Capacity | None) -> None:
        """Learn what a host has; None: it is no longer one of ours."""
        if capacity is None:
            self._capacities.pop(host, None)
            self._rooms.pop(host, None)
            return
        self._capacities[host] = capacity
        room = self._rooms[host] = capacity.room(host)
        for item in self._others.get(host, ()):
            room.leave_to(item)
        for held in self._held.values():
            for name, amount, devices in held:
                if name == host:
                    room.change(amount, devices, -1)

    def set_others(self, host: str, holdings: Sequence[Json]) -> None:
        """Learn what other clients have of a host."""
        self._others[host] = holdings
        self.set_capacity(host, self._capacities.get(host))

    def hold(self, key: str, demand: Sequence[Json], placement: Placement) -> None:
        """Somebody takes their places."""
        self.release(key)
        amounts = [Amount.read(item) for item in demand]
        self._held[key] = [
            (placement.hosts[amount.pod], amount, placement.names(amount.pod))
            for amount in amounts
            if amount.pod in placement.hosts
        ]
        self._book(self._held[key], -1)

    def release(self, key: str) -> bool:
        """Somebody leaves; whether they were here."""
        held = self._held.pop(key, None)
        if held is None:
            return False
        self._book(held, 1)
        return True

    def _book(self, held: Held, sign: int) -> None:
        for host, amount, devices in held:
            room = self._rooms.get(host)
            if room is not None:
                room.change(amount, devices, sign)

    def holders(self) -> Collection[str]:
        """Who holds something."""
        return self._held.keys()

    def holding(self, key: str) -> Held | None:
        """What somebody holds."""
        return self._held.get(key)

    def rooms(self, hosts: Iterable[str] | None = None) -> list[Room]:
        """What is free, on all hosts or on some, in their order; not to be changed."""
        if hosts is None:
            return list(self._rooms.values())
        return [self._rooms[name] for name in hosts if name in self._rooms]

    def empty_rooms(self) -> list[Room]:
        """All hosts as if nobody held anything."""
        return [capacity.room(name) for name, capacity in self._capacities.items()]

    def room(self, host: str) -> Room | None:
        """What is free on one host."""
        return self._rooms.get(host)

    def capacity(self, host: str) -> Capacity | None:
        """What one host has in all."""
        return self._capacities.get(host)
