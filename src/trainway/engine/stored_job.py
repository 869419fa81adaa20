"""A job whose record in memory is the one that is stored.

A change is written first and made in memory after that, so what could not be written has not
happened, and nobody acts on it. Changes of one job come one after the other: who makes one holds
the job's pen, and decides by the record as it is then.

A write that fails may have been stored all the same. The record is read again then; where not even
that is possible, the job counts as doubtful and nothing is done with it until it was read.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainway.engine.background import Background
from trainway.engine.backoff import Backoff
from trainway.engine.database_failure import uncertain
from trainway.engine.ledger import Ledger
from trainway.engine.notify.outbox import NewNotice
from trainway.engine.phases import Phase, may_become
from trainway.engine.record import Event, JobRecord, JobSpec, stored
from trainway.engine.store import JobChange
from trainway.errors import DatabaseError, NotFoundError
from trainway.telemetry.log_subject import job_fields

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Change:
    """What is to become of a record, and what happened."""

    columns: Mapping[str, Any]
    events: Sequence[Event] = ()
    spec: JobSpec | None = None
    """What the job is made from now; None: that stays."""


Decide = Callable[[], Change | None]
"""Says by the record as it is what to change; None: nothing."""


class StoredJob:
    """The record of a job, and the only ways to change it."""

    def __init__(self, record: JobRecord, ledger: Ledger) -> None:
        self.record = record
        self.pen = asyncio.Lock()
        self._ledger = ledger
        self._is_doubtful = False
        self.background = Background(job_fields(record.id, record.name))

    @property
    def id(self) -> str:
        """The job's id."""
        return self.record.id

    @property
    def is_doubtful(self) -> bool:
        """Whether the record may be another one than what is stored."""
        return self._is_doubtful

    def entered(self, before: JobRecord) -> None:
        """Do what follows from the record, which was another one before."""

    def notices(self, after: JobRecord) -> Sequence[NewNotice]:
        """What is to be told to somebody when the record becomes this one."""
        del after
        return ()

    def vanished(self) -> None:
        """Do what follows from there being no record any more."""

    async def alter(self, decide: Decide, *, is_durable: bool = True) -> None:
        """Write what is decided, then make it so; a DatabaseError says that it was not."""
        # Whoever waits may be cancelled; what is being written is written, and counts.
        await asyncio.shield(self.background.spawn(self._alter(decide, is_durable=is_durable)))

    async def _alter(self, decide: Decide, *, is_durable: bool) -> None:
        async with self.pen:
            await self.refresh()
            change = decide()
            if change is not None:
                await write(self._ledger, [(self, change)], is_durable=is_durable)

    async def observe(self, decide: Decide) -> None:
        """Do the same, while it is not over, for what nobody waits for and could be seen again.

        Of all jobs only one does so at a time: where writing is slow, owners need not queue behind.
        """
        async with self._ledger.turn:
            await self.alter(lambda: None if self.record.is_over else decide(), is_durable=False)

    async def insist(self, decide: Decide) -> None:
        """Do the same again and again until it is written."""
        backoff = Backoff()
        while not self.record.is_over:
            try:
                await self.observe(decide)
            except DatabaseError as error:
                log.warning("job %s: trying again soon: %s", self.id, error)
                await backoff.wait()
            else:
                return

    def change(self, *events: Event, **columns: Any) -> "Coroutine[Any, Any, None]":
        """Change the record whatever it is."""
        return self.alter(lambda: Change(columns, events))

    async def refresh(self) -> None:
        """Read the record again if it is doubtful; whoever holds the pen may do so."""
        if not self._is_doubtful:
            return
        try:
            found = await self._ledger.call(self._ledger.store.get, self.id)
        except NotFoundError:
            self._is_doubtful = False
            self.vanished()
            return
        self._is_doubtful = False
        self.put(found)

    def doubt(self) -> None:
        """Trust the record no more until it was read again."""
        self._is_doubtful = True

    def put(self, record: JobRecord) -> None:
        """Take up a record that is stored."""
        before, self.record = self.record, record
        if record.phase != before.phase:
            fields = job_fields(record.id, record.name)
            log.info("job %s is %s", record.id, record.phase, extra=fields)
        for observer in self._ledger.observers:
            observer.changed(before, record)
        self.entered(before)

    def recorded(self, columns: Mapping[str, Any]) -> None:
        """Take up columns that were stored with reports, and from which nothing follows."""
        self.record = self.record.with_columns(columns)

    def allowed(self, change: Change) -> Change:
        """The change, without a phase that the job cannot come to."""
        after = Phase(change.columns.get("phase", self.record.phase))
        if may_become(self.record.phase, after):
            return change
        log.warning("job %s cannot become %s from %s", self.id, after, self.record.phase)
        columns = {name: value for name, value in change.columns.items() if name != "phase"}
        return Change(columns, change.events, change.spec)

    def completed(self, change: Change) -> Change:
        """The change, with what follows from it for other columns."""
        after = self.record.with_columns(change.columns)
        more: dict[str, Any] = {}
        for derive in self._ledger.derived:
            more |= derive(self.record, after)
        return Change({**change.columns, **more}, change.events, change.spec) if more else change

    def has(self, change: Change) -> bool:
        """Whether the record is as the change makes it."""
        wanted = stored(change.columns)
        return all(getattr(self.record, name) == value for name, value in wanted.items())

    async def settle(self) -> None:
        """Read a doubtful record as soon as that is possible."""
        backoff = Backoff()
        while self._is_doubtful:
            await backoff.wait()
            try:
                async with self.pen:
                    await self.refresh()
            except DatabaseError as error:
                log.warning("job %s: its record cannot be read: %s", self.id, error)


async def write(
    ledger: Ledger, changes: Sequence[tuple[StoredJob, Change]], *, is_durable: bool = True
) -> None:
    """Write changes of jobs whose pens are held, all or none, and make them so."""
    allowed = [(job, job.completed(job.allowed(change))) for job, change in changes]
    rows = []
    for job, change in allowed:
        notices = job.notices(job.record.with_columns(change.columns))
        rows.append(JobChange(job.id, change.columns, change.events, notices, change.spec))
    try:
        await ledger.write_all(rows, is_durable=is_durable)
    except DatabaseError as error:
        await _reconcile(allowed, error)
    else:
        for job, change in allowed:
            job.put(job.record.with_columns(change.columns))


async def _reconcile(changes: Sequence[tuple[StoredJob, Change]], error: DatabaseError) -> None:
    """Take up what is stored after a write failed; raise the error unless all of it is."""
    for job, _ in changes:
        job.doubt()
    try:
        for job, _ in changes:
            await job.refresh()
    except DatabaseError:
        for job, _ in changes:
            job.background.spawn(job.settle())
        raise uncertain(error) from error
    if not all(job.has(change) for job, change in changes):
        raise error
