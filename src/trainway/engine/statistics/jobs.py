"""Counts what happens to the jobs of a server.

It is told of every record that becomes another, and keeps sums; what is known of jobs that are not
over is looked up when somebody reads the page. Only the number of jobs by phase is asked of the
store, which knows it without counting.

A counter that appears with its first event has grown by nothing, as Prometheus sees it. So what
alerts look at is there, with 0, from the first job of a backend and kind on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from trainway.engine.attempts import ending_cause
from trainway.engine.ledger import Ledger
from trainway.engine.observation import CULPRIT, ENDINGS
from trainway.engine.phases import LIVE, WAITING, Phase
from trainway.engine.queue_entry import demand_of
from trainway.engine.record import JobRecord
from trainway.engine.recovery.cause import Cause, cause_of, metric_label
from trainway.engine.statistics import table
from trainway.engine.statistics.running import Running, running_samples
from trainway.engine.usage import Rates
from trainway.jobset.status import moment
from trainway.telemetry.job_metrics import SERVER_JOBS
from trainway.telemetry.metric import Sample
from trainway.telemetry.registry import MOST_SERIES, Registry

_MOST_INTRODUCED: Final = MOST_SERIES // 4
"""A metric has only so many series, and some of them are for what really happens."""


class JobStatistics:
    """The numbers of the jobs of one server."""

    def __init__(
        self, ledger: Ledger, live: Mapping[str, Running], clock: Callable[[], datetime]
    ) -> None:
        self.registry = Registry((*table.JOB_METRICS, *table.RUNNING_METRICS))
        self._ledger = ledger
        self._live = live
        self._clock = clock
        self._began = clock()
        self._running: dict[str, datetime] = {}
        """Since when jobs run; those that did when the server started have no entry."""
        self._queued: dict[str, datetime] = {}
        """Since when jobs wait; those that have done so since their creation have no entry."""
        self._waited: dict[str, float] = {}
        """How long jobs have waited that have not run since."""
        self._introduced: set[tuple[str, str]] = set()
        """Backends and kinds whose counters are there."""
        self.registry.collect(self._samples)
        ledger.observers.append(self)

    async def page(self) -> str:
        """The text that Prometheus reads."""
        found = await self._ledger.call(self._ledger.store.phase_counts)
        self._count_gpus()
        for phase in Phase:
            self.registry.set(SERVER_JOBS.jobs, phase, value=found.get(phase, 0))
        return self.registry.page()

    def created(self, record: JobRecord) -> None:
        """A job was taken in."""
        self._introduce(record)
        self.registry.add(SERVER_JOBS.created, record.backend, record.kind)

    def changed(self, before: JobRecord, after: JobRecord) -> None:
        """The record of a job has become another one."""
        self._introduce(after)
        if after.started and not before.started:
            seconds = (moment(after.started) - moment(after.created)).total_seconds()
            labels = (after.backend, after.kind)
            self.registry.observe(SERVER_JOBS.running, *labels, value=max(seconds, 0.0))
        if after.restarts > before.restarts:
            for cause in _causes(after, before.restarts):
                self.registry.add(SERVER_JOBS.restarts, *_about(after), metric_label(cause))
                self._count_hang(after, cause)
        if after.phase != before.phase:
            self._moved(before, after)
        if after.started and after.id in self._waited:
            waited = self._waited.pop(after.id)
            self.registry.observe(table.QUEUE_WAIT, after.backend, value=waited)
        if after.is_over and not before.is_over:
            self._finished(after)

    def gone(self, record: JobRecord) -> None:
        """A job was forgotten before it was over."""
        self._end_run(record)
        self._queued.pop(record.id, None)
        self._waited.pop(record.id, None)

    def _introduce(self, record: JobRecord) -> None:
        about = _about(record)
        if about not in self._introduced and len(self._introduced) < _MOST_INTRODUCED:
            self._introduced.add(about)
            self.registry.add(SERVER_JOBS.hangs, *about, amount=0)
            for phase in (Phase.SUCCEEDED, Phase.FAILED):
                self.registry.add(SERVER_JOBS.finished, *about, phase, amount=0)

    def _finished(self, record: JobRecord) -> None:
        self.registry.add(SERVER_JOBS.finished, *_about(record), record.phase)
        if record.phase == Phase.FAILED:
            self._count_hang(record, cause_of(record.observed_data.get(CULPRIT) or {}))
        self.gone(record)

    def _count_hang(self, record: JobRecord, cause: Cause | None) -> None:
        if cause is Cause.HANG:
            self.registry.add(SERVER_JOBS.hangs, *_about(record))

    def _moved(self, before: JobRecord, after: JobRecord) -> None:
        now, id_ = self._clock(), after.id
        if before.phase == Phase.RUNNING:
            self._end_run(before)
        if before.phase in WAITING and after.phase not in WAITING:
            since = self._queued.pop(id_, None) or moment(before.created)
            spent = max((now - since).total_seconds(), 0.0)
            self._waited[id_] = self._waited.get(id_, 0.0) + spent
        elif after.phase in WAITING and before.phase not in WAITING:
            self._queued[id_] = now
        if after.phase == Phase.RUNNING:
            self._running[id_] = now

    def _end_run(self, record: JobRecord) -> None:
        since = self._running.pop(record.id, None)
        if record.phase == Phase.RUNNING:
            seconds = (self._clock() - (since or self._began)).total_seconds()
            gpus = Rates.of(record.demand_data).gpus
            if gpus:
                amount = max(seconds, 0.0) * gpus
                self.registry.add(SERVER_JOBS.gpu_seconds, record.backend, amount=amount)

    def _count_gpus(self) -> None:
        """Count GPUs while they are held, not only once they are free again."""
        now = self._clock()
        for job in self._live.values():
            if job.record.phase == Phase.RUNNING and demand_of(job.record.demand).gpus:
                self._end_run(job.record)
                self._running[job.record.id] = now

    def _samples(self) -> Iterator[Sample]:
        live = list(self._live.values())
        yield from self._queue_samples([job.record for job in live if job.record.phase in WAITING])
        begun = [job for job in live if job.record.phase in LIVE]
        yield from self._held_samples(begun)
        yield from running_samples(begun)

    def _queue_samples(self, waiting: Sequence[JobRecord]) -> Iterator[Sample]:
        lengths: dict[str, int] = {}
        oldest: dict[str, str] = {}
        for record in waiting:
            name = record.backend
            lengths[name] = lengths.get(name, 0) + 1
            oldest[name] = min(oldest.get(name, record.created), record.created)
        now = self._clock()
        for name, length in lengths.items():
            yield Sample(table.QUEUE_LENGTH, (name,), length)
            age = (now - moment(oldest[name])).total_seconds()
            yield Sample(table.QUEUE_OLDEST, (name,), max(age, 0.0))

    def _held_samples(self, begun: Sequence[Running]) -> Iterator[Sample]:
        held: dict[str, list[float]] = {}
        for job in begun:
            sums = held.setdefault(job.record.backend, [0.0, 0.0])
            demand = demand_of(job.record.demand)
            sums[0] += demand.gpus
            sums[1] += (demand.cpus * 1000).ceil() / 1000
        for name, (gpus, cpus) in held.items():
            yield Sample(table.GPUS, (name,), gpus)
            yield Sample(table.CPUS, (name,), cpus)


def _about(record: JobRecord) -> tuple[str, str]:
    return record.backend, record.kind


def _causes(record: JobRecord, known: int) -> list[Cause | None]:
    """The cause of each restart beyond those that were known."""
    observed = record.observed_data
    causes = {int(each["attempt"]): ending_cause(each) for each in observed.get(ENDINGS) or []}
    last = cause_of(observed.get(CULPRIT) or {})
    return [causes.get(attempt, last) for attempt in range(known, record.restarts)]
