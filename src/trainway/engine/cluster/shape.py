"""What a cluster is made of: so many nodes, and on each CPUs, memory and GPUs. Pure.

It is read from the `resources` of a task. Where a task asks for nothing, a node has one CPU, so
that a cluster is never nothing at all.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainway.api.task import autostop, resources
from trainway.api.task.autostop import Autostop
from trainway.api.task.infra import Infra
from trainway.backends.demand import Demand
from trainway.backends.host_amounts import HostAmounts
from trainway.counting import counted
from trainway.errors import InvalidError
from trainway.jobset.quantity import ZERO, Quantity
from trainway.json_types import Json

MOST_GPUS: Final = 1_000_000
DEFAULT_CPUS: Final = Quantity.parse(1)


@dataclass(frozen=True)
class Shape:
    """A number of nodes, all alike."""

    nodes: int
    cpus: Quantity = DEFAULT_CPUS
    memory: Quantity = ZERO
    gpus: float = 0
    """The GPUs of each node; it may be a part of one."""
    accelerator: str = ""
    """The accelerator as its author named it: `A100:8`."""

    def to_dict(self) -> Json:
        """For one node, as it is stored and shown."""
        return {
            "cpus": str(self.cpus),
            "memory": str(self.memory),
            "gpus": self.gpus,
            "accelerators": self.accelerator,
        }

    @classmethod
    def from_dict(cls, nodes: int, data: Mapping[str, Any]) -> "Shape":
        """What `to_dict` gave."""
        cpus, memory = Quantity.parse(data["cpus"]), Quantity.parse(data["memory"])
        return cls(nodes, cpus, memory, float(data["gpus"]), str(data["accelerators"]))

    def amounts(self) -> Json:
        """For one node, as a pool agent takes it."""
        return {
            "cpus": self.cpus.nanos / 10**9,
            "memory": self.memory.ceil(),
            "gpus": self.gpus,
        }

    def demand(self) -> Demand:
        """What it takes of a machine in all; GPUs are whole ones there."""
        slots: dict[str, list[int]] = {}
        count = -int(-self.gpus // 1)
        sharing = max(1, int(1 / self.gpus)) if 0 < self.gpus < 1 else 1
        for index in range(self.nodes if count else 0):
            first = index // sharing * count
            slots[f"node-{index}"] = list(range(first, first + count))
        return Demand(
            self.cpus * self.nodes,
            self.memory * self.nodes,
            len({number for numbers in slots.values() for number in numbers}),
            slots,
            nodes=self.nodes,
        )


@dataclass(frozen=True)
class Wanted:
    """What the resources of a task say about a cluster."""

    shape: Shape
    infra: Infra
    autostop: Autostop | None


def read(nodes: int, data: Mapping[str, Any]) -> Wanted:
    """Of a task's `resources`, the first candidate; InvalidError says what is wrong."""
    errors = [str(error) for error in resources.errors(dict(data), ("resources",))]
    if errors:
        raise InvalidError(errors)
    first = resources.read(dict(data)).first
    cpus = DEFAULT_CPUS if first.cpus is None else Quantity.parse(f"{first.cpus.value:.3f}")
    memory = ZERO
    if first.memory is not None:
        per = float(first.cpus.value) if first.memory.per_cpu and first.cpus else 1.0
        memory = Quantity.parse(f"{int(first.memory.value * per * 2**20)}Ki")
    accelerator = first.accelerator
    shape = Shape(
        nodes,
        cpus,
        memory,
        accelerator.count if accelerator else 0,
        str(accelerator) if accelerator else "",
    )
    gpus = nodes * math.ceil(shape.gpus)
    if gpus > MOST_GPUS:
        raise InvalidError([f"resources: {gpus:,} GPUs are too many; {MOST_GPUS:,} is the most"])
    return Wanted(shape, first.infra, autostop.read(first.fields.get("autostop")))


def never_fits(shape: Shape, hosts: Iterable[HostAmounts]) -> str:
    """Why the nodes could not be had even if nobody else were there; empty: they could.

    Each is on a host of its own.
    """
    rooms = list(hosts)
    one = shape.amounts()
    places = sum(_has_room(one, room) for room in rooms)
    if places >= shape.nodes:
        return ""
    each = described(one)
    there = "; ".join(
        f"{room.name} has {described(vars(room))}"
        for room in sorted(rooms, key=lambda room: -room.cpus)[:3]
    )
    more = f", and {len(rooms) - 3} more" if len(rooms) > 3 else ""
    fitting = "none fits" if not places else f"{places} fit{'s' if places == 1 else ''}"
    return f"it needs {counted(shape.nodes, 'node')} of {each}, and {fitting}: {there}{more}"


def described(amounts: Mapping[str, Any]) -> str:
    """Amounts for people: `4 CPUs, 8 GiB of memory, 1 GPU`."""
    parts = [counted(float(amounts["cpus"]), "CPU")]
    if amounts["memory"]:
        parts.append(f"{amounts['memory'] / 2**30:.4g} GiB of memory")
    if amounts["gpus"]:
        parts.append(counted(float(amounts["gpus"]), "GPU"))
    return ", ".join(parts)


def _has_room(one: Mapping[str, float], room: HostAmounts) -> bool:
    """Whether a node fits on a host."""
    gpus = math.ceil(one["gpus"])
    amounts = ((one["cpus"], room.cpus), (one["memory"], room.memory), (gpus, int(room.gpus)))
    return all(wanted <= there + 1e-9 for wanted, there in amounts)
