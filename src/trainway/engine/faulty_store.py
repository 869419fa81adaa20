"""A store that fails when a test wants it to: before or after its work was done."""

import errno
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from trainway.engine.cluster.store import ClusterStore
from trainway.engine.costs.store import CostStore
from trainway.engine.job_window import WindowStore
from trainway.engine.metrics.store import MetricStore
from trainway.engine.overview import OverviewStore
from trainway.engine.queues.store import QueueStore
from trainway.engine.rental.store import RentalStore
from trainway.engine.run.store import RunStore
from trainway.engine.store import Store
from trainway.engine.worker_pool.store import WorkerPoolStore


def locked() -> Exception:
    """As SQLite says it."""
    cause = sqlite3.OperationalError("database is locked")
    cause.sqlite_errorname = "SQLITE_BUSY"
    return OperationalError("COMMIT", {}, cause)


def full() -> Exception:
    """As the operating system says it."""
    return OSError(errno.ENOSPC, "No space left on device")


def broken() -> Exception:
    """A disk that is not well."""
    return OSError(errno.EIO, "Input/output error")


ERRORS: Final = (locked, full, broken)


@dataclass
class Faults:
    """Which calls fail, counted from the moment that the test says."""

    first: int = -1
    """The number of the call that fails; below 0: none does."""
    is_lasting: bool = False
    """Whether all that come after it fail too."""
    after: bool = False
    """Whether its work is done first, and only its answer is lost."""
    error: Callable[[], Exception] = locked
    calls: list[str] = field(default_factory=list)

    def arm(self) -> None:
        """Count from here."""
        self.calls.clear()

    def heal(self) -> None:
        """Let nothing fail any more."""
        self.first = -1

    def call(self, name: str, work: Callable[[], Any]) -> Any:
        """Do what a method does, or not."""
        number = len(self.calls)
        self.calls.append(name)
        fails = self.first >= 0 and (
            number == self.first or (self.is_lasting and number > self.first)
        )
        if not fails:
            return work()
        if self.after and number == self.first:
            work()
        raise self.error()


class _LentStore(Store):
    """A store of a database that is used again."""

    def close(self) -> None:
        """Leave the database as it is."""


def faulty_store(engine: Engine, faults: Faults) -> Store:
    """A store with these faults in every one of its methods, which leaves the database open."""
    store = _LentStore(engine)
    parts: tuple[tuple[type, object], ...] = (
        (Store, store),
        (ClusterStore, store.clusters),
        (CostStore, store.costs),
        (MetricStore, store.metrics),
        (OverviewStore, store.overview),
        (QueueStore, store.queues),
        (RentalStore, store.rentals),
        (RunStore, store.runs),
        (WindowStore, store.windows),
        (WorkerPoolStore, store.worker_pools),
    )
    for kind, part in parts:
        for name in _methods(kind):
            setattr(part, name, _failing(faults, name, getattr(part, name)))
    return store


def _methods(kind: type) -> Iterator[str]:
    for name, value in vars(kind).items():
        if not name.startswith("_") and callable(value) and name != "close":
            yield name


def _failing(faults: Faults, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **more: faults.call(name, lambda: method(*args, **more))
