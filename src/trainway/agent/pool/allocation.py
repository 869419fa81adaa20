"""The nodes that a cluster holds, and where on them the pods of a job go. Pure.

A node is a share of a host: CPUs, memory, and GPUs of which a job may have a fraction. The nodes of
a cluster are on different hosts, but for those of this machine. What a cluster did not ask for is
not counted on its nodes.
"""

from __future__ import annotations

from trainway.agent.base.counting import counted
from trainway.agent.base.transitions import following
from trainway.agent.pool import autostop
from trainway.agent.pool.allocation_state import TRANSITIONS, AllocationState
from trainway.agent.pool.placement import GPUS, WHOLE, Amount, Placement, Room, place, thousandths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Protocol

    from trainway.agent.pool.autostop import Autostop
    from trainway.json_types import Json

    Done = Callable[[Json], object]

    class AllocationHolder(Protocol):
        """Who has the allocations of clusters that are held elsewhere."""

        @abstractmethod
        def begin(self, allocation: Allocation, answer: Done) -> None:
            """Have an allocation; answered when it is asked for, or is not to be had."""

        @abstractmethod
        def go_on(self, allocation: Allocation) -> None:
            """Go on where an earlier agent left off."""

        @abstractmethod
        def end(self, allocation: Allocation, done: Done) -> None:
            """Give an allocation back; `done` gets `ok`, or why that cannot be."""

        @abstractmethod
        def look(self) -> None:
            """See whether the nodes of clusters are there."""

        @abstractmethod
        def close(self) -> None:
            """Leave; what is held is held."""


class Allocation:
    """What a cluster holds, or waits for. To the pool's queue it looks like a job."""

    priority = 0
    queue = ""
    oversubscribe = False
    is_new = True

    def __init__(self, data: Json, order: int) -> None:
        self.name = str(data["name"])
        self.uid = str(data.get("id") or "")
        self.order = order
        self.nodes = max(1, int(data.get("nodes") or 1))
        self.amounts: Json = {name: data.get(name) or 0 for name in ("cpus", "memory", GPUS)}
        """The CPUs, memory and GPUs of each node."""
        self.autostop: Autostop | None = autostop.read(data.get("autostop"))
        self.message = str(data.get("message") or "")
        self.reason = ""
        """Why it is being released, if there is more to say than that somebody wanted it."""
        self.had_job = bool(data.get("hadJob"))
        self.slurm: Json = data.get("slurm") or {}
        """What is known of its job, where it holds an allocation of Slurm; see `holding`."""
        self.is_given = bool(data.get("given") or self.slurm)
        """Whether others decide on its nodes: those who share the host with its jobs, or Slurm."""
        self.releasing = False
        """Whether its nodes are being given back, in whatever state it is."""
        self.idle_since: float | None = data.get("idleSince")
        given = data.get("placement")
        self.placement: Placement | None = Placement.from_json(given) if given else None
        first = AllocationState.INIT if self.placement is None else AllocationState.UP
        self._state = AllocationState(data.get("state") or first)
        self.on_place: Callable[[Allocation, Placement], None] = _ignored
        self.on_wait: Callable[[Allocation, str], None] = _ignored

    @property
    def id(self) -> str:
        """Its name in the queue."""
        return f"cluster/{self.name}"

    @property
    def title(self) -> str:
        """How other clients of its hosts are told of it."""
        return f"cluster {self.name}"

    @property
    def keys(self) -> list[str]:
        """The names of its nodes, the head first."""
        return [f"node-{index}" for index in range(self.nodes)]

    @property
    def demand(self) -> list[Json]:
        """As in the plan of a job: a pod for each node."""
        apart = {"apart": "node"} if self.nodes > 1 else {}
        return [{"pod": key, **self.amounts, **apart} for key in self.keys]

    @property
    def state(self) -> AllocationState:
        """What it has of its nodes."""
        return self._state

    def _become(self, state: AllocationState, placement: Placement | None = None) -> None:
        self._state = following(TRANSITIONS, self._state, state)
        self.placement = placement

    @property
    def is_held(self) -> bool:
        """Whether it has its nodes, or wants them."""
        return self._state is not AllocationState.STOPPED

    @property
    def wants_place(self) -> bool:
        """Whether it waits for its nodes."""
        waits = self._state is AllocationState.INIT
        return waits and not self.is_given and not self.releasing

    @property
    def ended(self) -> bool:
        """Whether the queue can pass it by."""
        return not self.is_held

    def place(self, placement: Placement) -> None:
        """The pool has found its nodes."""
        self.on_place(self, placement)

    def waiting(self, _reason: str, message: str, _position: int) -> None:
        """The pool has not; that is why."""
        self.on_wait(self, message)

    def displaced(self, message: str) -> None:
        """A host gave its place to somebody else: it waits for its nodes anew."""
        if self.is_held:
            self._become(AllocationState.INIT)
            self.on_wait(self, message)

    def refuse(self, message: str, _reason: str = "") -> None:
        """The hosts do not have so much; they may have more one day."""
        self.on_wait(self, message)

    def fail(self, message: str) -> None:
        """Something went wrong here: it waits, and says so."""
        self.on_wait(self, message)

    def start(self, placement: Placement | None) -> None:
        """Begin anew: with these nodes, or waiting for some."""
        state = AllocationState.INIT if placement is None else AllocationState.UP
        self._become(state, placement)
        self.message = self.reason = ""
        self.idle_since = None
        self.had_job = False

    def hold(self, placement: Placement) -> None:
        """These are its nodes."""
        self._become(AllocationState.UP, placement)
        self.message = ""

    def begin_autostop(self) -> None:
        """Nobody has used it for long: it is to be released."""
        self._become(AllocationState.AUTOSTOPPING, self.placement)

    def keep(self) -> bool:
        """Its nodes are not given back after all; whether that was for an autostop."""
        self.releasing = False
        was_autostop = self._state is AllocationState.AUTOSTOPPING
        if was_autostop:
            self._become(AllocationState.UP, self.placement)
        return was_autostop

    def stop(self, message: str = "") -> None:
        """It has no nodes any more, and wants none; that is why."""
        self._become(AllocationState.STOPPED)
        self.message = message
        self.releasing = False
        self.idle_since = None

    def rooms(self) -> list[Room]:
        """Its nodes, with nothing on them."""
        if self.placement is None:
            return []
        amount = Amount.read({"pod": self.name, **self.amounts})
        share = min(amount.gpus, WHOLE)
        return [
            Room(
                key,
                amount.cpus or None,
                amount.memory or None,
                dict.fromkeys(self.placement.names(key), share),
            )
            for key in self.keys
        ]

    def to_json(self) -> Json:
        """All that the next agent must know."""
        return {
            "name": self.name,
            "id": self.uid,
            "order": self.order,
            "nodes": self.nodes,
            **self.amounts,
            "autostop": None if self.autostop is None else self.autostop.to_json(),
            "given": self.is_given,
            "slurm": self.slurm,
            "state": self._state.value,
            "message": self.message,
            "hadJob": self.had_job,
            "idleSince": self.idle_since,
            "placement": None if self.placement is None else self.placement.to_json(),
        }


def _ignored(*_: object) -> None:
    """Nobody cares yet."""


def fill(rooms: Sequence[Room], demand: Sequence[Json], nodes: Placement) -> None:
    """Take from the rooms what a job holds of them."""
    by_name = {room.name: room for room in rooms}
    for item in demand:
        amount = Amount.read(item)
        room = by_name.get(nodes.hosts.get(amount.pod, ""))
        if room is not None:
            room.change(amount, nodes.names(amount.pod), -1)


def on_hosts(nodes: Placement, held: Placement) -> Placement:
    """Hosts in place of nodes."""
    hosts = {pod: held.hosts[node] for pod, node in nodes.hosts.items()}
    return Placement(hosts, dict(nodes.devices))


def on_nodes(demand: Sequence[Json], placed: Placement, held: Placement) -> Placement:
    """The nodes on which a job that was found running must be, by its hosts and devices."""
    nodes = Placement({}, dict(placed.devices))
    used = dict.fromkeys(held.hosts, 0)
    for item in demand:
        pod = str(item["pod"])
        own = set(placed.names(pod))
        able = [key for key, host in held.hosts.items() if host == placed.hosts.get(pod)]
        able = [key for key in able if own <= set(held.names(key))] or able
        if able:
            nodes.hosts[pod] = min(able, key=lambda key: (used[key], able.index(key)))
            used[nodes.hosts[pod]] += 1
    return nodes


def never_fits(demand: Sequence[Json], allocation: Allocation) -> bool:
    """Whether a job does not fit though nothing else is on the cluster."""
    return place(demand, allocation.rooms()) is None


def requested(amounts: Mapping[str, Any]) -> str:
    """What each node has, for people: `2 CPUs, 4 GiB of memory, 1 GPU`."""
    parts = []
    if amounts.get("cpus"):
        parts.append(counted(thousandths(amounts["cpus"]) / WHOLE, "CPU"))
    if amounts.get("memory"):
        parts.append(f"{int(amounts['memory']) / 2**30:.4g} GiB of memory")
    if amounts.get(GPUS):
        parts.append(counted(thousandths(amounts[GPUS]) / WHOLE, "GPU"))
    return ", ".join(parts) or "no resources that are counted"
