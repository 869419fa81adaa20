"""The room of the managed queue: the machines whose devices are ours to give, and all other places.

A machine is a `MachineRoom`, which gives out devices and says what is short and who holds it. A
worker pool gives out its workers. Where the infrastructure schedules by itself there is no room to
look at, and every job starts that its queue lets start.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Protocol

from trainway.agent.controllers import gang_queue
from trainway.agent.controllers.gang_queue import Verdict
from trainway.backends.base import Capacity, Devices
from trainway.engine.queue import Holding, MachineRoom, QueuedGang
from trainway.engine.queues.gangs import amounts_in, amounts_of
from trainway.queueing.amounts import Amounts, subtract
from trainway.queueing.snapshot import WaitingGang


class Place(Protocol):
    """Somewhere that gangs take something from."""

    @property
    def free(self) -> Amounts:
        """What nobody holds, in whole numbers."""
        ...

    def hopeless(self, gang: QueuedGang) -> Verdict | None:
        """What becomes of a gang that can never start; None: it may."""
        ...

    def judge(self, gang: QueuedGang) -> Verdict:
        """Which devices it gets, or what is short."""
        ...

    def take(self, gang: QueuedGang, devices: Devices) -> None:
        """So much less is free."""
        ...


class Machine:
    """One machine, as a room and in whole numbers."""

    def __init__(self, room: MachineRoom, capacity: Capacity, types: Collection[str] = ()) -> None:
        self.room = room
        self.free = amounts_in(capacity) | dict.fromkeys(types, len(capacity.gpus))
        """Its GPUs may be of any type that somebody asks for: only their number is known here."""
        for holding in room.holdings:
            subtract(self.free, held(holding))

    def hopeless(self, gang: QueuedGang) -> Verdict | None:
        """Whether it asks for more than the machine has, and means it."""
        return self.room.hopeless(gang)

    def judge(self, gang: QueuedGang) -> Verdict:
        """Which devices it gets, or what is short."""
        return self.room.judge(gang)

    def take(self, gang: QueuedGang, devices: Devices) -> None:
        """So much less is free."""
        self.room.take(gang, devices)
        subtract(self.free, amounts_of(gang.demand, devices))


def held(holding: Holding) -> Amounts:
    """What somebody holds of a machine."""
    return amounts_of(holding.demand, holding.devices)


class EnginePlaces:
    """All places of one decision."""

    def __init__(
        self,
        machines: Mapping[str, Place],
        gang: Callable[[str], QueuedGang],
        careless: Collection[str] = (),
    ) -> None:
        self._machines = machines
        """By lane; whoever has another one goes where somebody else decides."""
        self._gang = cache(gang)
        """Gives one who waits for a machine by its id; of most nobody asks."""
        self.careless = careless
        """The ids of those who start even if they do not fit."""
        self._possible: set[tuple[str, int]] = set()
        """By lane and request: many jobs ask for the same."""

    def free(self, lane: str) -> Amounts | None:
        """What nobody holds; None: somebody else decides there."""
        machine = self._machines.get(lane)
        return None if machine is None else machine.free

    def hopeless(self, gang: WaitingGang) -> Verdict | None:
        """Whether it asks for more than the machine has, and means it."""
        machine = self._machines.get(gang.lane)
        shape = gang.lane, id(gang.request)
        if machine is None or shape in self._possible:
            return None
        verdict = machine.hopeless(self._gang(gang.id))
        if verdict is None and gang.id not in self.careless:
            self._possible.add(shape)
        return verdict

    def is_exempt(self, gang: WaitingGang) -> bool:
        """Whether it takes nothing from anybody, or does not care."""
        return not gang.request or gang.id in self.careless or gang.lane not in self._machines

    def judge(self, gang: WaitingGang) -> Verdict:
        """Which devices it gets, or what is short."""
        machine = self._machines.get(gang.lane)
        if machine is None:
            return gang_queue.start({})
        return machine.judge(self._gang(gang.id))

    def take(self, gang: WaitingGang, devices: Devices) -> None:
        """So much less is free."""
        machine = self._machines.get(gang.lane)
        if machine is not None:
            machine.take(self._gang(gang.id), devices)

    def name(self, gang: WaitingGang) -> str:
        """What it is called where others are told of it."""
        return gang.name
