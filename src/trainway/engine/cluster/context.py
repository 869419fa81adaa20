"""What the clusters of a server need of its engine, which knows nothing of clusters otherwise."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from trainway.backends.base import Capacity
from trainway.engine.agent_starts import USUAL, StartPolicy
from trainway.engine.ids import Ids
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.record import JobRecord
from trainway.engine.rental.office import RentalOffice
from trainway.errors import UnavailableError


def no_office() -> NoReturn:
    """What clusters find where machines cannot be rented."""
    raise UnavailableError("this server does not rent machines")


@dataclass(frozen=True)
class ClusterContext:
    """What clusters need of the engine."""

    ledger: Ledger
    ids: Ids
    clock: Callable[[], datetime]
    schedule: Callable[[], "asyncio.Future[None]"]
    """Asks for a round of the queue, which can be awaited."""
    capacity: Callable[[], Capacity]
    """Returns what this machine has for jobs."""
    jobs: Callable[[str], Sequence[LiveJob]]
    """The jobs of a backend that are not over."""
    job_records: Callable[[str], Sequence[JobRecord]]
    """The records of those, and of such as could not be taken up."""
    end: Callable[[Sequence[LiveJob]], Awaitable[None]]
    """Cancels some, all or none."""
    worker_changed: Callable[[], object] = lambda: None
    """Called when a cluster that is a worker of a worker pool has changed, or is gone."""
    starts: StartPolicy = USUAL
    """When an agent is asked again that could not be started."""
    admit: Callable[[Mapping[str, str]], None] = lambda _: None
    """Raises for labels of which a budget has nothing left."""
    office: Callable[[], RentalOffice] = no_office
    """Returns who rents machines."""
