"""The store, for those who must not wait for a disk: one thread does its work, in order.

Where another program keeps the database locked, who has waited while that was found out fails with
it: else each of them would wait as long again, and whoever only reads would wait for all of them.

Whoever watches a job is told when a write is done. A write that fails is reported to whoever asked
for it; where it may have been stored all the same, as when a connection is lost while it is
committed, what is stored counts.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, Protocol, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from trainway.engine.change_feed import ChangeFeed
from trainway.engine.changes import Changes
from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.costs.spent_job import SpentJob
from trainway.engine.damage import suspect
from trainway.engine.database import hurried
from trainway.engine.database_failure import (
    DamagedError,
    Failure,
    database_error,
    failure_of,
    uncertain,
)
from trainway.engine.record import Event, JobRecord
from trainway.engine.run.record import RunRecord
from trainway.engine.store import Changes as Columns
from trainway.engine.store import JobChange, Store
from trainway.errors import DatabaseError
from trainway.json_types import Json

P = ParamSpec("P")
T = TypeVar("T")


class Observer(Protocol):
    """Is told what becomes of records."""

    def created(self, record: JobRecord) -> None:
        """There is a new one."""
        ...

    def changed(self, before: JobRecord, after: JobRecord) -> None:
        """One has become another."""
        ...

    def gone(self, record: JobRecord) -> None:
        """One was forgotten before its job was over."""
        ...


class Bills:
    """What clusters cost; by itself, nothing is known of it."""

    def columns(self, record: ClusterRecord) -> dict[str, Any]:
        """What the bill of a cluster adds to a change that makes it this one."""
        del record
        return {}

    def spent(self, record: ClusterRecord) -> SpentJob | None:
        """What is kept of one that is being forgotten."""
        del record
        return None

    def view(self, record: ClusterRecord) -> Json:
        """What is shown of its cost."""
        del record
        return {}


async def _nothing(account: str) -> Json:
    """What an account stands at of which nothing is known."""
    del account
    return {}


class Ledger:
    """Runs calls of the store in a thread of their own."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.feed = ChangeFeed()
        self.changes = Changes(self.feed.note)
        self.turn = asyncio.Lock()
        """Held by whoever writes what nobody waits for, so that no queue of that can form."""
        self.observers: list[Observer] = []
        self.admitting: list[Callable[[JobRecord], None]] = []
        """Asked about each new job right before it is stored; what one raises, refuses it."""
        self.derived: list[Callable[[JobRecord, JobRecord], dict[str, Any]]] = []
        """What else changes of a job when its record becomes another, in the same transaction."""
        self.bills = Bills()
        self.repriced: list[Callable[[], Awaitable[None]]] = []
        """Called when prices have become other ones."""
        self.charge: Callable[[str], Awaitable[Json]] = _nothing
        """What is charged to an account, as the API shows it."""
        self.forgotten: list[Callable[[SpentJob], None]] = []
        """Called with what clusters had cost that are forgotten."""
        self._thread = ThreadPoolExecutor(1, "store")
        self._locked = float("-inf")
        """When another program was last found to keep the database locked."""

    def call(
        self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> "asyncio.Future[T]":
        """Queue a call of the store; its answer can be awaited, or is a DatabaseError."""
        loop = asyncio.get_running_loop()
        work = partial(method, *args, **kwargs)
        return loop.run_in_executor(self._thread, self._do, work, time.monotonic())

    def _do(self, work: Callable[[], T], asked: float) -> T:
        try:
            if asked > self._locked:
                return work()
            with hurried():
                return work()
        except (SQLAlchemyError, OSError) as error:
            if failure_of(error) is Failure.LOCKED:
                self._locked = time.monotonic()
            failure = database_error(error, self.store.place)
            if isinstance(failure, DamagedError) and self.store.file is not None:
                with suppress(OSError):
                    suspect(self.store.file)
            raise failure from error

    async def write_all(self, changes: Sequence[JobChange], *, is_durable: bool = True) -> None:
        """Change jobs, all or none; what nobody is told of need not be durable."""
        try:
            await self.call(self.store.update_all, changes, is_durable=is_durable)
        finally:
            for change in changes:
                self.changes.notify(change.job_id)

    async def write(self, job_id: str, columns: Columns, events: Sequence[Event] = ()) -> None:
        """Change one job."""
        await self.write_all([JobChange(job_id, columns, events)])

    async def write_run(self, run: RunRecord) -> None:
        """Change what a run is; who watches all jobs is told the id, which its first job has."""
        await self.call(self.store.runs.change, run)
        self.changes.notify(run.id)

    async def settled(
        self, writing: "asyncio.Future[T]", is_stored: Callable[[], bool]
    ) -> T | None:
        """Wait for a write; one that failed counts if it is stored all the same."""
        try:
            return await writing
        except DatabaseError as error:
            try:
                was_stored = await self.call(is_stored)
            except DatabaseError:
                raise uncertain(error) from error
            if not was_stored:
                raise
            return None

    def close(self) -> None:
        """Finish what is queued and close the store."""
        self._thread.shutdown(wait=True)
        self.store.close()
