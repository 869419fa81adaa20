"""Answers about jobs, once or as a stream.

All of them come from the store, so that nothing is shown that a crash would take back.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from trainway.backends.base import LogLine, LogQuery
from trainway.backends.capabilities import keeping_logs
from trainway.backends.registry import Registry
from trainway.engine.attempts import attempts_view
from trainway.engine.change_feed import ChangeFeed
from trainway.engine.costs.cluster_bill import used_cluster
from trainway.engine.costs.rate import rates_of
from trainway.engine.ids import before
from trainway.engine.job_filter import EVERY_JOB, Filter
from trainway.engine.job_window import Rows, Window
from trainway.engine.ledger import Ledger, Observer
from trainway.engine.left_job import readable
from trainway.engine.log_nodes import refuse_unknown
from trainway.engine.observation import ENDINGS, NODES, RUNS
from trainway.engine.phases import Phase
from trainway.engine.queue import Waiting
from trainway.engine.record import Event, JobRecord, JobSpec
from trainway.engine.times import time_text
from trainway.engine.usage import Grouping, Rates, UsageReport, UsedJob, used_before
from trainway.engine.view import job_view
from trainway.errors import NotFoundError, UsageError
from trainway.jobset.labels import ACCOUNT
from trainway.json_types import Json

_DIGITS: Final = 9
"""How many digits the number of an event has at most, which the store keeps in 32 bits."""


_USAGE_BATCH: Final = 200
"""Jobs that are added up at a time."""


@dataclass(frozen=True)
class Page:
    """Some jobs, and where the next ones begin."""

    items: list[Json]
    cursor: str | None


class Reading:
    """Looks jobs up."""

    def __init__(
        self,
        ledger: Ledger,
        registry: Registry,
        waiting: Waiting,
        clock: Callable[[], datetime],
        settle: Callable[[], Awaitable[None]],
    ) -> None:
        self._ledger = ledger
        self._store = ledger.store
        self._registry = registry
        self._waiting = waiting
        self._clock = clock
        self._settle = settle
        """Stores what was reported in the last second, so that it is shown."""

    def tell(self, observer: Observer) -> None:
        """Let somebody know of every record that changes."""
        self._ledger.observers.append(observer)

    @property
    def feed(self) -> ChangeFeed:
        """Which jobs have changed lately."""
        return self._ledger.feed

    @property
    def database(self) -> str:
        """Which database the jobs are in."""
        return self._store.kind

    async def record(self, ref: str) -> JobRecord:
        """The job with that id, or the newest of that name."""
        return readable(await self._ledger.call(self._store.get, ref))

    async def get(self, ref: str) -> Json:
        """The job in full, with what the machines cost that are rented for it alone."""
        record = await self.reported(ref)
        view = await self.view(record)
        account = record.label_map.get(ACCOUNT)
        if account and "cost" not in view["status"]["usage"]:
            view["status"]["usage"] |= await self._ledger.charge(account)
        return view

    async def reported(self, ref: str) -> JobRecord:
        """The job with all that it has reported so far."""
        await self._settle()
        return await self.record(ref)

    async def view(self, record: JobRecord) -> Json:
        """A job as it is shown."""
        return self.shown(record, await self.objects(record.id))

    async def objects(self, job_id: str) -> list[Json]:
        """What a job was made from."""
        found = await self._ledger.call(self._store.objects, [job_id])
        return found.get(job_id, [])

    async def spec(self, ref: str) -> JobSpec:
        """What a job was made from, and what it was compiled to."""
        record = await self.record(ref)
        return await self._ledger.call(self._store.spec, record.id)

    async def attempts(self, ref: str) -> list[Json]:
        """When each attempt of a job ran, and why it ended."""
        record = await self.record(ref)
        columns = {
            "attempt": record.attempt,
            "started": record.started,
            "until": record.finished or time_text(self._clock()),
        }
        observed = record.observed_data
        return attempts_view(columns, observed.get(RUNS) or [], observed.get(ENDINGS) or [])

    async def whole(self, ref: str) -> tuple[JobRecord, list[Json]]:
        """A job and what it was made from, both in one turn of the store."""
        return await self._ledger.call(self._whole, ref)

    def _whole(self, ref: str) -> tuple[JobRecord, list[Json]]:
        record = readable(self._store.get(ref))
        return record, self._store.objects([record.id]).get(record.id, [])

    def shown(self, record: JobRecord, objects: list[Json]) -> Json:
        """The same with what it was made from, for answers that nothing may spoil any more."""
        return self._view(record, objects)

    def summary(self, record: JobRecord) -> Json:
        """A job as it is shown among others."""
        return self._view(record, None)

    def _view(self, record: JobRecord, objects: list[Json] | None) -> Json:
        return job_view(readable(record), objects, self._waiting.position(record.id))

    async def page(self, limit: int, wanted: Filter = EVERY_JOB, *, summary: bool = False) -> Page:
        """A page of jobs, newest first."""
        await self._settle()
        found = await self._ledger.call(self._store.page, wanted, limit + 1, summary=summary)
        page = found[:limit]
        objects: dict[str, list[Json]] = {}
        if not summary:
            objects = await self._ledger.call(self._store.objects, [job.id for job in page])
        items = [
            self.summary(job) if summary else self.shown(job, objects.get(job.id, []))
            for job in page
        ]
        return Page(items, page[-1].id if len(found) > limit else None)

    async def window(self, wanted: Filter, window: Window, *, is_grouped: bool) -> Rows:
        """Which jobs are in some rows of a list; grouped: or which runs, instead of their jobs."""
        await self._settle()
        windows = self._store.windows
        return await self._ledger.call(
            windows.groups if is_grouped else windows.jobs, wanted, window
        )

    async def summaries(self, ids: Collection[str]) -> dict[str, Json]:
        """Jobs in short, by their ids."""
        found = await self._ledger.call(self._store.windows.read, ids)
        return {job_id: self.summary(record) for job_id, record in found.items()}

    async def at(self, place: str, phases: Collection[Phase], most: int) -> list[JobRecord]:
        """Jobs of a backend, or of its parts, that are in one of these phases; newest first."""
        wanted = Filter(phases=phases, place=place)
        return await self._ledger.call(self._store.page, wanted, most)

    async def been_at(self, place: str, most: int) -> list[JobRecord]:
        """Jobs of a backend, and the newest of all, which may have been there; some come twice."""
        found = [await self.at(where, tuple(Phase), most) for where in (place, "")]
        return [record for records in found for record in records]

    async def overview(self, hours: int) -> Json:
        """How things stand, and what happened in so many hours."""
        since = self._clock() - timedelta(hours=hours)
        found = await self._ledger.call(self._store.overview.read, time_text(since), before(since))
        return {
            "phases": found.phases,
            "hours": [{"hour": f"{hour}:00:00Z", "counts": counts}
                      for hour, counts in sorted(found.hours.items())],
            "backends": {name: load.to_dict() for name, load in found.backends.items()},
            "failures": [self.shown(record, []) for record in found.failures],
            "waiting": [self.shown(record, []) for record in found.waiting],
        }  # fmt: skip

    async def queues(self, most: int) -> dict[str, Json]:
        """What jobs do on each backend, and the first that wait there with their positions."""
        found = await self._ledger.call(self._store.overview.queues, most)
        return {
            name: {
                **queue.load.to_dict(),
                "jobs": [self.shown(record, []) for record in queue.first],
            }
            for name, queue in found.items()
        }

    async def counts(self) -> tuple[int, int]:
        """How many jobs are active, and how many there are."""
        return await self._ledger.call(self._store.counts)

    async def usage(self, by: Grouping | None, key: str, since: str) -> Json:
        """What all jobs have used, added up; others have their turn at the store in between."""
        report, cursor, now = UsageReport(by, key, since), "", time_text(self._clock())
        while True:
            page = await self._ledger.call(self._store.page, Filter(before=cursor), _USAGE_BATCH)
            report.add(_used(readable(record), now) for record in page)
            if len(page) < _USAGE_BATCH:
                break
            cursor = page[-1].id
        cursor = ""
        while deleted := await self._ledger.call(self._store.costs.spent, cursor, _USAGE_BATCH):
            report.add(used_before(job) for job in deleted)
            cursor = deleted[-1].job_id
        clusters = await self._ledger.call(self._store.clusters.all)
        report.add(used_cluster(each, now) for each in clusters if each.rates)
        return report.to_dict()

    async def events(self, ref: str, after: int = 0) -> list[Event]:
        """What happened to a job after the event of that number."""
        record = await self.record(ref)
        return await self._ledger.call(self._store.events, record.id, after)

    async def check_events(self, ref: str, last: str) -> int:
        """The number of the last event that somebody has seen; nonsense is refused."""
        seq = int(last) if last.isascii() and last.isdecimal() and len(last) <= _DIGITS else -1
        if seq < 0 or (seq and not await self.events(ref, seq - 1)):
            raise UsageError(f"{ref} has no such event: {last[:40]!r}", field="Last-Event-ID")
        return seq

    async def event_stream(self, ref: str, after: int = 0) -> AsyncIterator[Event]:
        """What happened and will happen to a job, until its end."""
        async for record in self._states(await self.record(ref)):
            for event in await self._ledger.call(self._store.events, record.id, after):
                after = event.seq
                yield event

    async def watch(self, ref: str) -> AsyncIterator[Json]:
        """The job now, and again after every change, until its end."""
        last: Json | None = None
        async for record in self._states(await self.record(ref)):
            view = await self.view(record)
            if view != last:
                last = view
                yield view

    async def check_logs(self, ref: str, query: LogQuery) -> None:
        """Raise what `logs` would raise, before a stream begins."""
        record = await self.record(ref)
        if record.is_expired:
            raise NotFoundError(
                f"the logs of {record.name} were removed when their retention time ended"
            )
        nodes = record.observed_data.get(NODES) or {}
        refuse_unknown(record.name, nodes.values(), query.role, query.rank)
        backend = self._registry.of(record.backend, record.handle_data)
        keeping_logs(backend).check_logs(query)

    async def logs(self, ref: str, query: LogQuery) -> AsyncIterator[list[LogLine]]:
        """Lines of a job's logs; a follower waits for a job that has not begun."""
        record = await self.record(ref)
        if query.follow:
            async for state in self._states(record):
                record = state
                if record.journal_seq >= 0:
                    break
        backend = self._registry.of(record.backend, record.handle_data)
        ended = asyncio.Event()
        waiter = asyncio.create_task(self._wait_for_end(record, ended))
        try:
            async for lines in keeping_logs(backend).logs(record.handle_data, query, ended):
                yield lines
        finally:
            waiter.cancel()
            with suppress(asyncio.CancelledError):
                await waiter

    async def _wait_for_end(self, record: JobRecord, ended: asyncio.Event) -> None:
        async for _ in self._states(record):
            pass
        ended.set()

    async def _states(self, record: JobRecord) -> AsyncIterator[JobRecord]:
        """The job as it is, and after each change, until it is over or deleted."""
        while True:
            seen = self._ledger.changes.count(record.id)
            try:
                record = await self.record(record.id)
            except NotFoundError:
                return
            yield record
            if record.is_over:
                return
            await self._ledger.changes.wait(record.id, seen)


def _used(record: JobRecord, now: str) -> UsedJob:
    runs = record.observed_data.get(RUNS) or []
    rates = Rates.of(record.demand_data)
    until, costs = record.finished or now, rates_of(record.rates)
    labels, backend = record.label_map, record.backend
    return UsedJob(labels, backend, rates, runs, until, costs, record.id, record.name)
