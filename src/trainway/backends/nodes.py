"""The nodes of a backend, one by one: what each has, what of it is held, how busy its GPUs are.

`capacity` adds up what there is for those who submit jobs; whoever looks after the machines wants
to see each of them, also those that take no jobs at the moment.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from trainway.backends.base import Backend
from trainway.errors import ConflictError
from trainway.jobset.quantity import ZERO, Quantity


@dataclass(frozen=True)
class Gpu:
    """One GPU of a node, where the backend can tell them apart."""

    name: str
    is_held: bool | None = None
    """Whether a job has it; None: nobody knows."""
    utilization: float | None = None
    """In percent; None: nobody measures it."""
    memory: int | None = None
    """Bytes that are in use."""
    total_memory: int | None = None


@dataclass(frozen=True)
class Node:
    """One node."""

    name: str
    state: str
    """The state in the words of the backend: `Ready`, `MIXED`, `up`."""
    problem: str = ""
    """Why it takes no jobs at the moment; empty: it does."""
    sort: str = ""
    """The sort of node: its type of GPU, its instance type, or its partitions."""
    cpus: Quantity = ZERO
    free_cpus: Quantity = ZERO
    """What nobody holds, also where no jobs are taken."""
    memory: Quantity = ZERO
    free_memory: Quantity = ZERO
    gpus: int = 0
    free_gpus: int = 0
    devices: tuple[Gpu, ...] = ()
    """Its GPUs one by one; empty where only their number is known."""
    drained: str = ""
    """Why somebody has set it aside, so that it takes no new pods; empty: nobody has."""
    drained_by: str = ""
    """Who has; empty: that is not known."""
    drained_since: datetime | None = None
    drained_until: datetime | None = None
    """When it takes pods again by itself; None: when somebody lets it."""


@dataclass(frozen=True)
class Drain:
    """That a node is to be set aside, and how."""

    why: str
    by: str = ""
    until: datetime | None = None
    """None: until somebody lets it take pods again."""


@runtime_checkable
class HasNodes(Protocol):
    """Can list its nodes."""

    async def nodes(self) -> list[Node]:
        """The nodes as they are now. Raises UnavailableError where they cannot be asked for."""
        ...


@runtime_checkable
class SharesNodes(Protocol):
    """Has a scheduler of its own, which may put several nodes of a job on one machine."""

    @property
    def shares_nodes(self) -> bool:
        """Whether it does so however many nodes a job asks for."""
        ...


@runtime_checkable
class BeginsSmaller(Protocol):
    """Has a queue of ours, from which elastic jobs begin with as many nodes as fit."""

    @property
    def begins_smaller(self) -> bool:
        """Whether they do."""
        ...


@runtime_checkable
class DrainsNodes(Protocol):
    """Can set nodes aside, so that they take no new pods and keep those that they have."""

    @property
    def has_own_nodes(self) -> bool:
        """Whether only our jobs are on its nodes, so that we may set one aside by ourselves."""
        ...

    async def drain(self, node: str, drain: Drain) -> None:
        """Set a node aside; done when it is written where the next process finds it.

        Raises NotFoundError where there is no such node, ForbiddenError where others decide, and
        UsageError where it cannot be for a time only.
        """
        ...

    async def undrain(self, node: str) -> None:
        """Let it take pods again."""
        ...


def is_last(name: str, nodes: Iterable[Node]) -> bool:
    """Whether no other of the nodes could take its jobs, so that it must not be set aside. Pure.

    Another one takes jobs at the moment, and has GPUs where this one has.
    """
    known = list(nodes)
    needs_gpus = any(node.gpus for node in known if node.name == name)
    others = (node for node in known if node.name != name and not node.problem)
    return not any(node.gpus or not needs_gpus for node in others)


def draining(backend: Backend) -> DrainsNodes:
    """The backend, as one that sets nodes aside; refused in words where it cannot."""
    if isinstance(backend, DrainsNodes):
        return backend
    raise ConflictError(
        f"the nodes of {backend.name} cannot be set aside",
        hint="those of pools, Slurm and Kubernetes can: trainway nodes drain NODE --on ssh/POOL",
    )
