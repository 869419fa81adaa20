"""Queues that a backend has beside ours, such as Kueue's: what may be used, and what waits."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from trainway.jobset.quantity import Quantity
from trainway.json_types import Json


@dataclass(frozen=True)
class Quota:
    """So much of a resource a queue has, and so much of it is used."""

    flavor: str
    resource: str
    nominal: Quantity
    used: Quantity


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
