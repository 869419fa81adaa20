"""Admits submissions: each once for its key, and none that the store does not have.

An answer is only given for what is stored. Where that cannot be found out in time, the request
fails, and the jobs are taken up later if they turn out to be there.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from trainway.backends import capabilities
from trainway.backends.registry import Registry
from trainway.engine.background import Background
from trainway.engine.backoff import Backoff
from trainway.engine.database_failure import UncertainError
from trainway.engine.idempotency import refuse_other
from trainway.engine.intake import Intake, NewJob
from trainway.engine.live import LiveContext, LiveJob
from trainway.engine.queue import assigned
from trainway.engine.record import JobRecord
from trainway.engine.run.record import NewRun, RunRecord
from trainway.engine.submission import Submission
from trainway.engine.wishes import BEGIN_SUSPENDED
from trainway.errors import DatabaseError
from trainway.telemetry.log_subject import job_fields

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Admitted:
    """The jobs of a request."""

    records: list[JobRecord]
    warnings: list[str] = field(default_factory=list)
    objects: list[dict[str, Any]] = field(default_factory=list)
    """What the first was made from, if that is known without asking."""


class Admission:
    """Where submissions become jobs of the store."""

    def __init__(
        self,
        around: LiveContext,
        registry: Registry,
        intake: Intake,
        take_up: Callable[[Sequence[NewJob]], list[LiveJob]],
        request_round: Callable[[], Awaitable[None]],
    ) -> None:
        self._around = around
        self._ledger = around.ledger
        self._store = around.ledger.store
        self._registry = registry
        self._intake = intake
        self._take_up = take_up
        self._request_round = request_round
        self._background = Background()

    async def close(self) -> None:
        """Leave what is not certain yet to the next server."""
        await self._background.close()

    async def admit(
        self, submissions: Sequence[Submission], run: NewRun | RunRecord | None = None
    ) -> Admitted:
        """Store the jobs of a request, all or none, and see who may start; a run may be there."""
        made = await self._made_before(submissions)
        if made:
            return Admitted(made)
        backends = [self._registry.get(each.backend, each.kubeconfig) for each in submissions]
        taken = await self._intake.take(submissions, backends, run)
        new = [self._suspended(job) if job.prepared.is_suspended else job for job in taken]
        if not await self._stored(new):
            # The same request came twice at once, and the other one was faster.
            _release(new)
            return await self.admit(submissions, run)
        lives = self._taken_up(new)
        await self._request_round()
        records = [live.record for live in lives]
        is_pipeline = new[0].run is not None and new[0].run.pipeline is not None
        told = [line for job in (new if is_pipeline else new[:1]) for line in job.prepared.warnings]
        return Admitted(records, told, new[0].spec.objects)

    def _taken_up(self, new: Sequence[NewJob]) -> list[LiveJob]:
        lives = self._take_up(new)
        for job in new:
            record = job.record
            fields = job_fields(record.id, record.name)
            log.info("job %s was created on %s", record.id, record.backend, extra=fields)
        for observer in self._ledger.observers:
            for job in new:
                observer.created(job.record)
        return lives

    async def _made_before(self, submissions: Sequence[Submission]) -> list[JobRecord]:
        """The jobs that the same request has made already."""
        keys = [submission.key for submission in submissions if submission.key]
        found = [await self._ledger.call(self._store.with_key, key) for key in keys[:1]]
        if found and found[0] is not None:
            refuse_other(found[0], submissions[0])
            found += [await self._ledger.call(self._store.with_key, key) for key in keys[1:]]
        return [record for record in found if record is not None]

    def _suspended(self, job: NewJob) -> NewJob:
        """A job that begins suspended: it waits for nothing, and is stored as one that begins."""
        backend = job.backend
        gpus = () if backend.schedules else capabilities.capacity(backend).gpus
        devices = assigned(job.prepared.demand, gpus)
        live = LiveJob(job.record, backend, self._around)
        change = live.beginning(devices, wanted=BEGIN_SUSPENDED)
        record = job.record.with_columns(change.columns)
        return replace(job, record=record, more=tuple(change.events))

    async def _stored(self, new: Sequence[NewJob]) -> bool:
        """Store new jobs; False if there are some with their keys already."""
        rows = [(job.record, job.spec, [job.event, *job.more]) for job in new]
        is_stored = partial(self._store.has, new[0].record.id)
        try:
            for ask in self._ledger.admitting:
                for job in new:
                    ask(job.record)
            adding = self._ledger.call(self._store.add_all, rows, new[0].run)
            is_new = await self._ledger.settled(adding, is_stored) is not False
        except UncertainError:
            self._background.spawn(self._find_out(new))
            raise
        except BaseException:
            _release(new)
            raise
        if is_new:
            self._tell(new)
        return is_new

    def _tell(self, new: Sequence[NewJob]) -> None:
        """Tell those who watch all jobs that there are more."""
        for job in new:
            self._ledger.changes.notify(job.record.id)

    async def _find_out(self, new: Sequence[NewJob]) -> None:
        """Take up jobs after all of which it was not known whether they were stored."""
        backoff = Backoff()
        while True:
            await backoff.wait()
            try:
                is_stored = await self._ledger.call(self._store.has, new[0].record.id)
            except DatabaseError:
                continue
            if is_stored:
                self._tell(new)
                self._taken_up(new)
                await self._request_round()
            else:
                _release(new)
            return


def _release(new: Sequence[NewJob]) -> None:
    """Give back what jobs reserved that are not kept."""
    for job in new:
        capabilities.release(job.backend, job.prepared.port)
