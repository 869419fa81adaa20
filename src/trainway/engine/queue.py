"""The queue of a machine: jobs, what they hold and what there is go in, a decision comes out. Pure.

The rule by which gangs start is in `agent/controllers/gang_queue.py`, for this queue as for those
of pools and clusters. A gang starts only when all of it fits. One that requested nothing takes
nothing from anybody, and never waits. Whoever waits is told what is short, who holds it, and how it
can be freed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from trainway.agent.controllers import gang_queue
from trainway.agent.controllers.gang_queue import Verdict
from trainway.backends.base import Capacity, Devices
from trainway.backends.demand import Demand
from trainway.counting import counted
from trainway.jobset.quantity import ZERO, Quantity
from trainway.queueing.snapshot import WaitingGang

GPUS = "gpus"

_MOST_HOLDERS = 3
"""How many holders are named to whoever waits, those who hold most first."""


@dataclass(frozen=True)
class QueuedGang:
    """A job that waits."""

    id: str
    demand: Demand
    priority: int = 0
    oversubscribe: bool = False
    """Whether it starts even if it does not fit."""
    pinned: Devices = field(default_factory=dict)
    """The devices it had before it was suspended; it must have the same ones again."""
    name: str = ""
    """What it is called where others are told of it; empty: they are not."""
    release: str = ""
    """The command that frees what it holds once it has started."""
    is_promise: bool = False
    """Whether it starts at once and holds nothing, but wants devices of its own for later, as a
    cluster."""

    @property
    def order(self) -> str:
        """Ids are given out in the order of arrival."""
        return self.id


@dataclass(frozen=True)
class Holding:
    """What a started job holds."""

    demand: Demand
    devices: Devices = field(default_factory=dict)
    holder: str = ""
    release: str = ""


@dataclass(frozen=True)
class Decision:
    """What to do with the jobs that wait."""

    start: Mapping[str, Devices] = field(default_factory=dict)
    """The jobs to start now, with the devices for their pods."""
    waiting: Mapping[str, str] = field(default_factory=dict)
    """Why each of the others waits, in the order of the queue."""
    inadmissible: Mapping[str, str] = field(default_factory=dict)
    """Why some could not start even on an empty machine."""


class Waiting:
    """The jobs that wait now, as the last decision left them."""

    def __init__(self) -> None:
        self._positions: dict[str, int] = {}
        self._short: frozenset[str] | None = None

    def put(self, positions: Mapping[str, int]) -> None:
        """Remember who waits at which place; all others do not wait."""
        self._positions = dict(positions)

    def clear(self) -> None:
        """Nobody waits."""
        self._positions, self._short = {}, frozenset()

    def note_short(self, gangs: Iterable[WaitingGang]) -> None:
        """Remember who waits for nothing but a worker."""
        self._short = frozenset(gang.id for gang in gangs)

    @property
    def is_known(self) -> bool:
        """Whether there was a decision; a new server has made none at first."""
        return self._short is not None

    def is_short(self, job_id: str) -> bool:
        """Whether it would start if there was a worker for it."""
        return job_id in (self._short or ())

    def position(self, job_id: str) -> int | None:
        """The place in the queue, from 1; None: it does not wait."""
        return self._positions.get(job_id)


class MachineRoom:
    """What is left of a machine while a decision is made."""

    def __init__(
        self, capacity: Capacity, holdings: Iterable[Holding], promised: Collection[str] = ()
    ) -> None:
        self._capacity = capacity
        self.cpus, self.memory = capacity.cpus, capacity.memory
        self.promised = set(promised)
        self.gpus = sorted(capacity.gpus, key=self.promised.__contains__)
        self.holdings: list[Holding] = []
        for holding in holdings:
            self._hold(holding)

    def hopeless(self, gang: QueuedGang) -> Verdict | None:
        """Whether it asks for more than the machine has, and means it."""
        never = "" if gang.oversubscribe else never_fits(gang.demand, self._capacity)
        return gang_queue.refuse(never) if never else None

    def is_exempt(self, gang: QueuedGang) -> bool:
        """Whether it takes nothing from anybody now, or does not care."""
        return gang.is_promise or gang.oversubscribe or gang.demand.is_empty

    def judge(self, gang: QueuedGang) -> Verdict:
        """Which devices it gets, or what is short."""
        if gang.is_promise:
            return gang_queue.start(assigned(gang.demand, self._for_later()))
        short = "" if self.is_exempt(gang) else self._shortage(gang)
        if short:
            return gang_queue.wait(gang_queue.QUEUED, _need(short, self._holders(gang)))
        return gang_queue.start(
            gang.pinned or assigned(gang.demand, self.gpus or self._capacity.gpus)
        )

    def take(self, gang: QueuedGang, devices: Devices) -> None:
        """So much less is free for those behind it; what is only promised goes last."""
        if gang.is_promise:
            self.promised |= names_of(devices)
            self.gpus.sort(key=self.promised.__contains__)
        else:
            self._hold(Holding(gang.demand, devices, gang.name, gang.release))

    def name(self, gang: QueuedGang) -> str:
        """What it is called where others are told of it."""
        return gang.name

    def _hold(self, holding: Holding) -> None:
        self.holdings.append(holding)
        self.cpus -= holding.demand.cpus
        self.memory -= holding.demand.memory
        held = names_of(holding.devices)
        self.gpus = [name for name in self.gpus if name not in held]

    def _for_later(self) -> list[str]:
        """All GPUs, those first that nobody wants, and of these those that nobody has."""
        names = [*self.gpus, *(name for name in self._capacity.gpus if name not in self.gpus)]
        return sorted(names, key=self.promised.__contains__)

    def _shortage(self, gang: QueuedGang) -> str:
        """Why the gang cannot start; empty: it can."""
        demand = gang.demand
        missing = [
            _short("CPU", demand.cpus, self.cpus),
            _short("memory", demand.memory, self.memory),
            ""
            if demand.gpus <= len(self.gpus)
            else f"{counted(demand.gpus, 'GPU')}, {len(self.gpus)} free",
        ]
        pinned = names_of(gang.pinned) - set(self.gpus)
        if pinned:
            missing.append(f"GPU {', '.join(sorted(pinned))}, in use")
        return "; ".join(text for text in missing if text)

    def _holders(self, gang: QueuedGang) -> str:
        """Who holds what the gang lacks, and how it is freed; empty where nobody is known."""
        found = [
            (_weight(holding), holding, amounts)
            for holding in self.holdings
            if holding.holder and (amounts := self._lacking(gang, holding))
        ]
        found.sort(key=lambda item: item[0], reverse=True)
        told = [
            f"{holding.holder} holds {amounts} (to free that: {holding.release})"
            for _, holding, amounts in found[:_MOST_HOLDERS]
        ]
        more = len(found) - _MOST_HOLDERS
        return "; ".join([*told, *([f"and {more} more"] if more > 0 else [])])

    def _lacking(self, gang: QueuedGang, holding: Holding) -> str:
        """What a holding has of that which is too little for the gang."""
        wanted, held = gang.demand, holding.demand
        gpus = names_of(holding.devices)
        parts = [
            _amount("CPU", held.cpus) if _short("", wanted.cpus, self.cpus) else "",
            f"{held.memory} of memory"
            if _short("", wanted.memory, self.memory) and not held.memory.is_zero
            else "",
            f"GPU {', '.join(sorted(gpus))}"
            if gpus and (wanted.gpus > len(self.gpus) or gpus & names_of(gang.pinned))
            else "",
        ]
        return ", ".join(part for part in parts if part)


def decide(
    waiting: Iterable[QueuedGang],
    holdings: Iterable[Holding],
    capacity: Capacity,
    promised: Collection[str] = (),
) -> Decision:
    """Start as many as fit, in order; GPUs that are promised to others go last."""
    decided = gang_queue.decide(waiting, MachineRoom(capacity, holdings, promised))
    return Decision(
        start={gang.id: devices for gang, devices in decided.start},
        waiting={gang.id: message for gang, _, message in decided.waiting},
        inadmissible={gang.id: message for gang, _, message in decided.refused},
    )


def unheld(capacity: Capacity, holdings: Iterable[Holding]) -> Capacity:
    """What is left of the capacity."""
    free = MachineRoom(capacity, holdings)
    return Capacity(max(free.cpus, ZERO), max(free.memory, ZERO), tuple(free.gpus))


def never_fits(demand: Demand, capacity: Capacity) -> str:
    """Why the demand exceeds all there is, with the numbers; empty: it does not."""
    exceeded = [
        _exceeds("CPU", demand.cpus, capacity.cpus),
        _exceeds("memory", demand.memory, capacity.memory),
        ""
        if demand.gpus <= len(capacity.gpus)
        else f"{counted(demand.gpus, 'GPU')}, and {_there_is(len(capacity.gpus))}",
    ]
    return "; ".join(text for text in exceeded if text)


def assigned(demand: Demand, gpus: Sequence[str]) -> Devices:
    """The GPUs of each pod, from the first ones on; too few are shared in turn."""
    if not gpus:
        return {}
    return {
        pod: {GPUS: [gpus[number % len(gpus)] for number in numbers]}
        for pod, numbers in demand.slots.items()
    }


def held_devices(demand: Demand, devices: Devices) -> Devices:
    """The devices of those pods that a gang has: an elastic one may have fewer than all."""
    elastic = demand.elastic
    if elastic is None:
        return devices
    return {pod: kinds for pod, kinds in devices.items() if elastic.has(pod)}


def names_of(devices: Devices) -> set[str]:
    """All GPUs that were given out."""
    return {name for kinds in devices.values() for name in kinds.get(GPUS, ())}


def _short(what: str, wanted: Quantity, free: Quantity) -> str:
    """Nothing wanted is never too much, also where others hold more than there is."""
    if wanted.is_zero or wanted <= free:
        return ""
    return f"{_wanted(what, wanted)}, {max(free, ZERO)} free"


def _need(short: str, holders: str) -> str:
    return f"needs {short}" + (f"; {holders}" if holders else "")


def _amount(what: str, amount: Quantity) -> str:
    if amount.is_zero:
        return ""
    return counted(amount, what)


def _weight(holding: Holding) -> tuple[int, Quantity, Quantity]:
    return len(names_of(holding.devices)), holding.demand.cpus, holding.demand.memory


def _exceeds(what: str, wanted: Quantity, total: Quantity) -> str:
    if wanted <= total:
        return ""
    return f"{_wanted(what, wanted)}, and {_there_is(total)}"


def _wanted(what: str, amount: Quantity) -> str:
    return f"{amount} {what}" if what == "memory" else counted(amount, what)


def _there_is(number: object) -> str:
    return f"there {'is' if str(number) == '1' else 'are'} {number}"
