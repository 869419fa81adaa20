"""Queues that a backend has beside ours, such as Kueue's: what may be used, and what waits."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from trainway.jobset.quantity import ZERO, Quantity
from trainway.json_types import Json


@dataclass(frozen=True)
class Quota:
    """So much of a resource a queue has, and so much of it is used."""

    flavor: str
    resource: str
    nominal: Quantity
    used: Quantity
    borrowed: Quantity = ZERO
    """What is used beyond the nominal quota, of others in the same cohort."""


@dataclass(frozen=True)
class Queue:
    """A queue that jobs can name."""

    name: str
    namespace: str
    cluster_queue: str
    """The queue that it leads to, which others may lead to as well."""
    pending: int
    admitted: int
    problem: str = ""
    """Why nothing is admitted; empty: it is open."""
    quotas: tuple[Quota, ...] = ()
    """Those of the queue that it leads to; empty where they may not be read."""


@runtime_checkable
class HasQueues(Protocol):
    """Has queues and training runtimes of its own, which a job can name."""

    async def queues(self) -> list[Queue]:
        """The queues for jobs that are submitted there."""
        ...

    def runtimes(self) -> list[Json]:
        """The training runtimes that were there at the last `look`."""
        ...


@dataclass(frozen=True)
class Waiter:
    """Somebody's job that waits in a queue."""

    name: str
    position: int
    """The position in the queue, from 1 on."""
    reason: str
    """Why it waits, in the words of the queue."""
    since: str = ""
    priority: int = 0
    owner: str = ""
    """Whose it is, or which object it belongs to: `TrainJob train`, `ada`."""
    top: str = ""
    """The name of the object that was submitted, by which our own jobs are recognized."""


@dataclass(frozen=True)
class QueueState:
    """A queue with those who wait in it, in their order."""

    queue: Queue
    waiting: tuple[Waiter, ...] = ()


@runtime_checkable
class TellsQueues(Protocol):
    """Can say who waits in the queues of its infrastructure, and why."""

    async def queue_states(self) -> list[QueueState]:
        """The queues as they are now. Raises UnavailableError where they cannot be asked for."""
        ...
