"""The managed queues of one server: who owns them says how much their jobs get.

A queue is written first and counts afterwards. There is always one called `default`, where jobs are
whose owner names none; it has no limits until somebody gives it some.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from trainway.engine.ledger import Ledger
from trainway.engine.left_job import runs_of
from trainway.engine.live_jobs import LiveJobs
from trainway.engine.phases import WAITING
from trainway.engine.queue import Waiting
from trainway.engine.queues.record import EndedJob, QueueRecord, record_of
from trainway.engine.queues.running_use import RunningUse
from trainway.engine.queues.usage_book import KEPT_S, UsageBook
from trainway.engine.queues.view import queue_view
from trainway.engine.record import JobRecord
from trainway.engine.times import time_text
from trainway.engine.under_way import is_under_way
from trainway.errors import ConflictError, InvalidError, NotFoundError
from trainway.json_types import Json
from trainway.queueing.queue_object import KIND, errors, name_in, policy_of
from trainway.queueing.queue_policy import DEFAULT_QUEUE, QueuePolicy, QueueState
from trainway.schema.validation import closest

MOST_QUEUES: Final = 1000


class DrainedError(ConflictError):
    """A queue takes in no more jobs until somebody resumes it."""


class Queues:
    """All queues, and what they have used."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Callable[[], datetime],
        live: LiveJobs,
        waiting: Waiting,
        request_round: Callable[[], object],
    ) -> None:
        self._ledger = ledger
        self._store = ledger.store.queues
        self._clock = clock
        self._live = live
        self._waiting = waiting
        self._request_round = request_round
        self._records: dict[str, QueueRecord] = {}
        self._pen = asyncio.Lock()
        """Held while one is changed."""
        self.policies: Mapping[str, QueuePolicy] = {DEFAULT_QUEUE: QueuePolicy(DEFAULT_QUEUE)}
        self.book = UsageBook(clock().timestamp())

    async def start(self) -> None:
        """Take up what a former server has left."""
        now = self._clock()
        since = time_text(now - timedelta(seconds=KEPT_S))
        for job in await self._ledger.call(self._store.ended, since):
            self.book.add(job, now.timestamp())
        self._take_up(await self._ledger.call(self._store.all))

    def note_end(self, record: JobRecord) -> None:
        """Count a job that is over."""
        columns = (record.demand, record.started, record.finished, record.ran_seconds)
        now = self._clock().timestamp()
        self.book.add(EndedJob(record.queue, record.labels, *columns), now)

    def admitting(
        self, name: str, sets_up: bool = False, field: str = "options.queue"
    ) -> QueuePolicy:
        """The queue that a new job is to wait in; raises if it takes in none.

        A worker is set up all the same: it is in none, and jobs that were taken in wait for it.
        """
        policy = self.policies.get(name)
        if sets_up:
            return policy or QueuePolicy(name)
        if policy is None:
            raise self._missing(name, field)
        if policy.refusal:
            message, _, hint = policy.refusal.partition(". ")
            raise DrainedError(message, field=field, hint=hint)
        return policy

    async def apply(self, obj: Json) -> Json:
        """Keep a queue as an object says, new or in place of the one of its name."""
        wrong = errors(obj)
        if wrong:
            raise InvalidError([f"{KIND}/{_named(obj)}: {error}" for error in wrong])
        name = name_in(obj)
        async with self._pen:
            before = self.policies.get(name)
            if before is None and len(self.policies) >= MOST_QUEUES:
                raise ConflictError(f"a server has {MOST_QUEUES} queues at most")
            policy = policy_of(name, obj.get("spec") or {})
            state = before.state if before else QueueState.OPEN
            await self._keep(replace(policy, state=state))
        return self.get(name)

    async def set_state(self, name: str, state: QueueState) -> Json:
        """Open, pause or drain a queue."""
        async with self._pen:
            await self._keep(replace(self._found(name), state=state))
        return self.get(name)

    async def delete(self, name: str) -> Json:
        """Forget a queue in which no job is."""
        async with self._pen:
            view = self.get(name)
            if name == DEFAULT_QUEUE:
                raise ConflictError(
                    "the queue default cannot be deleted",
                    hint="to lift its limits, apply it without a spec",
                )
            jobs = self._live.records_in(name)
            if jobs:
                raise ConflictError(
                    f"queue {name} still has {len(jobs)} {'job' if len(jobs) == 1 else 'jobs'}, "
                    f"such as {jobs[0].name}",
                    hint=f"let it take no more with trainway queues drain {name}, or put its jobs "
                    "into another queue with trainway jobs set NAME --queue QUEUE",
                )
            await self._ledger.call(self._store.remove, name)
            self._take_up([record for record in self._records.values() if record.name != name])
        return view

    def all(self) -> list[Json]:
        """All of them, by name."""
        return [self._view(name) for name in sorted(self.policies)]

    def get(self, name: str) -> Json:
        """One, with the jobs that wait in it."""
        self._found(name)
        return self._view(name, with_jobs=True)

    def _view(self, name: str, *, with_jobs: bool = False) -> Json:
        jobs = self._live.records_in(name)
        running = list(filter(is_under_way, jobs))
        waiting = [job for job in jobs if job.phase in WAITING and not is_under_way(job)]
        now = self._clock().timestamp()
        lives, left = self._live.of_queue(name), self._live.left.values()
        runs = [(live.record, live.observation.runs) for live in lives]
        runs += [(job, runs_of(job)) for job in left if job.queue == name]
        used = self.book.used(now, RunningUse(now, runs)).gpu_seconds.get(name, 0)
        record = self._records.get(name)
        policy = self.policies[name]
        created = record.created if record else ""
        shown = waiting if with_jobs else None
        return queue_view(policy, created, running, len(waiting), used, shown, self._waiting)

    async def _keep(self, policy: QueuePolicy) -> None:
        before = self._records.get(policy.name)
        created = before.created if before else time_text(self._clock())
        record = record_of(policy, created)
        await self._ledger.call(self._store.put, record)
        self._take_up([*self._records.values(), record])
        self._request_round()

    def _take_up(self, records: list[QueueRecord]) -> None:
        self._records = {record.name: record for record in records}
        usual = {DEFAULT_QUEUE: QueuePolicy(DEFAULT_QUEUE)}
        self.policies = usual | {name: record.policy for name, record in self._records.items()}

    def _found(self, name: str) -> QueuePolicy:
        policy = self.policies.get(name)
        if policy is None:
            raise self._missing(name)
        return policy

    def _missing(self, name: str, field: str | None = None) -> NotFoundError:
        meant = closest(name, list(self.policies))
        asked = f'; did you mean "{meant}"?' if meant else ""
        hint = "trainway queues list shows them all"
        return NotFoundError(f"there is no queue {name[:80]!r}{asked}", field=field, hint=hint)


def _named(obj: Json) -> str:
    metadata = obj.get("metadata")
    return str(metadata.get("name") or "")[:80] if isinstance(metadata, dict) else ""
