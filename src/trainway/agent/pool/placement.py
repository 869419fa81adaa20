"""Where the pods of a gang go: all of them at once, or none. Pure.

The pods of a gang are spread evenly, since one that asks for several hosts wants their network and
memory, and neighbours by rank stay together. Pods that have the same word in `apart` never share a
host. What is not requested counts nothing. Amounts are whole numbers, thousandths of CPUs and GPUs,
so that giving back restores exactly what was there.
"""

from __future__ import annotations

from trainway.agent.base.counting import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainway.agent.base.records import PlacementRecord
    from trainway.json_types import Json

    Choice = tuple["Room", list[str]]

WHOLE = 1000
GPUS = "gpus"
PACKING = "--pack puts several nodes of a job on one host"


class Amount:
    """What one pod asks for."""

    __slots__ = ("apart", "cpus", "gpus", "memory", "pod")

    def __init__(
        self, pod: str, cpus: int = 0, memory: int = 0, gpus: int = 0, apart: str = ""
    ) -> None:
        self.pod = pod
        self.cpus = cpus
        self.memory = memory
        self.gpus = gpus
        """The GPUs that the pod needs, in thousandths; more than one GPU is always whole ones."""
        self.apart = apart
        """The word that no other pod on its host may have; empty: any pod may be there."""

    @classmethod
    def read(cls, data: Json) -> Amount:
        """An entry of a plan's demand."""
        gpus = thousandths(data.get("gpus"))
        if gpus > WHOLE:
            gpus = -(-gpus // WHOLE) * WHOLE
        memory = int(data.get("memory") or 0)
        apart = str(data.get("apart") or "")
        return cls(str(data["pod"]), thousandths(data.get("cpus")), memory, gpus, apart)

    @property
    def size(self) -> tuple[int, int, int]:
        """What is hardest to find room for comes last in this order."""
        return self.gpus, self.cpus, self.memory


class Room:
    """What is free on one host; None is not counted there."""

    __slots__ = ("cpus", "gpus", "memory", "name", "pods")

    def __init__(
        self,
        name: str,
        cpus: int | None = None,
        memory: int | None = None,
        gpus: dict[str, int] | None = None,
        pods: int = 0,
    ) -> None:
        self.name = name
        self.cpus = cpus
        self.memory = memory
        self.gpus = {} if gpus is None else gpus
        """How much of each device is free."""
        self.pods = pods
        """How many pods are there already."""

    def copy(self) -> Room:
        """One that can be filled without filling this one."""
        return Room(self.name, self.cpus, self.memory, dict(self.gpus), self.pods)

    def to_json(self) -> Json:
        """For the state of the pool."""
        return {
            "cpus": None if self.cpus is None else max(0, self.cpus) / WHOLE,
            "memory": None if self.memory is None else max(0, self.memory),
            "gpus": sum(max(0, free) for free in self.gpus.values()) / WHOLE,
        }

    def devices_for(self, amount: Amount) -> list[str] | None:
        """The devices that a pod would get; None: it does not fit."""
        if not _fits(amount.cpus, self.cpus) or not _fits(amount.memory, self.memory):
            return None
        if not amount.gpus:
            return []
        if amount.gpus < WHOLE:
            shared = [name for name, free in self.gpus.items() if free >= amount.gpus]
            return [min(shared, key=lambda name: self.gpus[name])] if shared else None
        whole = [name for name, free in self.gpus.items() if free >= WHOLE]
        count = amount.gpus // WHOLE
        return whole[:count] if len(whole) >= count else None

    def change(self, amount: Amount, devices: Iterable[str], sign: int) -> None:
        """Let a pod in (-1) or out (+1)."""
        if self.cpus is not None:
            self.cpus += sign * amount.cpus
        if self.memory is not None:
            self.memory += sign * amount.memory
        for name in devices:
            if name in self.gpus:
                self.gpus[name] += sign * min(amount.gpus, WHOLE)
        self.pods -= sign

    def leave_to(self, holding: Json) -> None:
        """Let another client have what it holds; its amounts are in thousandths already."""
        if self.cpus is not None:
            self.cpus -= int(holding.get("cpus") or 0)
        if self.memory is not None:
            self.memory -= int(holding.get("memory") or 0)
        for name, share in (holding.get("gpus") or {}).items():
            if name in self.gpus:
                self.gpus[name] -= int(share)


class Placement:
    """The host of every pod of a gang, and its devices."""

    def __init__(self, hosts: dict[str, str], devices: dict[str, Json] | None = None) -> None:
        self.hosts = hosts
        self.devices = {} if devices is None else devices
        """The devices of each pod, such as {"gpus": ["0", "1"]}."""

    def names(self, pod: str) -> list[str]:
        """The GPUs of a pod."""
        return list((self.devices.get(pod) or {}).get(GPUS) or [])

    def to_json(self) -> Json:
        """The fields of a placement record."""
        return {"hosts": self.hosts, "devices": self.devices}

    def record(self, token: int) -> PlacementRecord:
        """The placement as the journal of its job has it."""
        return {"token": token, "hosts": self.hosts, "devices": self.devices}

    @classmethod
    def from_json(cls, data: Json) -> Placement:
        """What `to_json` gave."""
        return cls(dict(data.get("hosts") or {}), dict(data.get("devices") or {}))


def place(
    demand: Sequence[Json], rooms: Sequence[Room], *, packed: bool = False
) -> Placement | None:
    """A place for every pod, or None where not all fit.

    The rooms stay as they are. What is first tried spreads the pods in their order; if that does
    not work out, the largest are placed first, and at last as tightly as possible.
    """
    if not rooms:
        return None
    amounts = [Amount.read(item) for item in demand]
    ordered = sorted(amounts, key=lambda amount: amount.size, reverse=True)
    attempts = (
        [(ordered, True)] if packed else [(amounts, False), (ordered, False), (ordered, True)]
    )
    for pods, tight in attempts:
        chosen = _attempt(pods, rooms, tight=tight)
        if chosen is not None:
            return _with_neighbours(amounts, chosen, rooms)
    return None


def _attempt(
    amounts: Iterable[Amount], rooms: Sequence[Room], *, tight: bool
) -> dict[str, tuple[str, list[str]]] | None:
    left = [room.copy() for room in rooms]
    ours = {room.name: 0 for room in left}
    taken: set[tuple[str, str]] = set()
    chosen: dict[str, tuple[str, list[str]]] = {}
    for amount in amounts:
        best: Room | None = None
        best_devices: list[str] = []
        best_rank: tuple[int, ...] = ()
        for room in left:
            devices = room.devices_for(amount)
            if devices is None or (amount.apart, room.name) in taken:
                continue
            rank = _rank(amount, room, devices, ours[room.name], tight=tight)
            if best is None or rank < best_rank:
                best, best_devices, best_rank = room, devices, rank
        if best is None:
            return None
        best.change(amount, best_devices, -1)
        ours[best.name] += 1
        if amount.apart:
            taken.add((amount.apart, best.name))
        chosen[amount.pod] = (best.name, best_devices)
    return chosen


def _rank(
    amount: Amount, room: Room, devices: list[str], ours: int, *, tight: bool
) -> tuple[int, ...]:
    """How good a room is for a pod; the lowest is taken, of equal ones the first."""
    opens_device = int(0 < amount.gpus < WHOLE and room.gpus[devices[0]] == WHOLE)
    if tight:
        return opens_device, sum(room.gpus.values()), room.cpus or 0, room.memory or 0
    return ours, opens_device, room.pods


def _with_neighbours(
    amounts: Sequence[Amount], chosen: dict[str, tuple[str, list[str]]], rooms: Sequence[Room]
) -> Placement:
    """Let pods that ask for the same change places, so that neighbours share a host."""
    order = {room.name: number for number, room in enumerate(rooms)}
    alike: dict[tuple[str, int, int, int], list[str]] = {}
    for amount in amounts:
        role = amount.pod.rsplit("-", 2)[0]
        alike.setdefault((role, *amount.size), []).append(amount.pod)
    placement = Placement({amount.pod: "" for amount in amounts})
    for pods in alike.values():
        places = sorted((chosen[pod] for pod in pods), key=lambda item: order[item[0]])
        for pod, (host, devices) in zip(pods, places):  # noqa: B905 - not in Python 3.8
            placement.hosts[pod] = host
            if devices:
                placement.devices[pod] = {GPUS: devices}
    return placement


def place_anyway(demand: Sequence[Json], rooms: Sequence[Room]) -> Placement | None:
    """A place for every pod of a gang that may take more than there is.

    Pods are spread, and get the devices that are least in use, though maybe fewer than they want.
    """
    if not rooms:
        return None
    free = [{**item, "cpus": 0, "memory": 0, "gpus": 0} for item in demand]
    placement = place(free, rooms) or place(packable(free), rooms)
    if placement is None:
        return None
    by_name = {room.name: room.copy() for room in rooms}
    for item in demand:
        amount = Amount.read(item)
        room = by_name[placement.hosts[amount.pod]]
        if amount.gpus and room.gpus:
            idle = sorted(room.gpus, key=lambda name: -room.gpus[name])
            devices = idle[: max(1, amount.gpus // WHOLE)]
            placement.devices[amount.pod] = {GPUS: devices}
            room.change(amount, devices, -1)
    return placement


def packable(demand: Sequence[Json]) -> list[Json]:
    """The same for pods that may share hosts."""
    return [{**item, "apart": ""} for item in demand]


def shortage(demand: Sequence[Json], rooms: Sequence[Room], *, empty: bool = False) -> str:
    """Why a gang does not fit into these rooms, with the numbers."""
    amounts = [Amount.read(item) for item in demand]
    too_few = _too_few_rooms(amounts, rooms, empty=empty)
    if too_few:
        helps = place(packable(demand), rooms) is not None
        return f"{too_few}; {PACKING}" if helps else too_few
    parts = []
    for what, wanted, there in (
        ("CPU", [item.cpus for item in amounts], [room.cpus for room in rooms]),
        ("memory", [item.memory for item in amounts], [room.memory for room in rooms]),
        ("GPU", [item.gpus for item in amounts], [sum(room.gpus.values()) for room in rooms]),
    ):
        known = [max(0, number) for number in there if number is not None]
        if sum(wanted) > sum(known) and len(known) == len(there):
            has = _there(what, sum(known), empty=empty)
            parts.append(f"{_text(what, sum(wanted))}, {has}")
    if parts:
        return "it needs " + "; ".join(parts)
    what = _described(max(amounts, key=lambda amount: amount.size)) or "room"
    ending = "on these hosts" if empty else "into what is free"
    if len(amounts) == 1:
        return f"its pod of {what} does not fit {ending}"
    return f"its {len(amounts)} pods, of up to {what} each, do not all fit {ending}"


def _there(what: str, number: int, *, empty: bool) -> str:
    if not empty:
        return f"with only {_text(what, number, '')} free"
    text = _text(what, number, "")
    return f"and there {'is' if text.split()[0] == '1' else 'are'} {text}"


def _too_few_rooms(amounts: Sequence[Amount], rooms: Sequence[Room], *, empty: bool) -> str:
    """Why pods that want a host each do not get one; empty: they would."""
    groups: dict[str, list[Amount]] = {}
    for amount in amounts:
        if amount.apart:
            groups.setdefault(amount.apart, []).append(amount)
    group = max(groups.values(), key=len, default=[])
    count = len(group)
    if count < 2:
        return ""
    largest = max(group, key=lambda amount: amount.size)
    able = sum(room.devices_for(largest) is not None for room in rooms)
    if count <= able:
        return ""
    needs = f"it asks for {count} nodes"
    if count > len(rooms):
        if not empty:
            return f"{needs}, with only {len(rooms)} available"
        return f"{needs}, and there {'is' if len(rooms) == 1 else 'are'} {len(rooms)}"
    has = "has" if able == 1 else "have"
    how = f"{has} that much" if empty else f"{has} that much free"
    return f"{needs} with {_described(largest)} each, and {able} of {len(rooms)} {how}"


def _described(amount: Amount) -> str:
    parts = (("CPU", amount.cpus), ("memory", amount.memory), ("GPU", amount.gpus))
    return " and ".join(_text(what, number) for what, number in parts if number)


def thousandths(value: object) -> int:
    """A number of CPUs or GPUs, rounded up."""
    if not value:
        return 0
    return -(-round(float(str(value)) * WHOLE * 1000) // 1000)


def _fits(wanted: int, free: int | None) -> bool:
    """Nothing wanted always fits, also where others hold more than there is."""
    return not wanted or free is None or wanted <= free


def _text(what: str, number: int, unit: str | None = None) -> str:
    if what == "memory":
        return f"{number / 2**30:.4g} GiB" + (" of memory" if unit is None else "")
    return counted(number / WHOLE, what) if unit is None else f"{number / WHOLE:g}"
