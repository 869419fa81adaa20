"""Watches one job in its cluster from submission to its end, and writes its journal.

It waits for changes of the shared informers and for nothing else. While the API server is away
nothing changes, and so nothing happens: a job never fails for that.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Final

from trainway.agent.base.log_limit import DEFAULT, REASON
from trainway.backends.base import INTERRUPTED, Handle, Update
from trainway.backends.job_threads import job_threads
from trainway.backends.kubernetes import leader_worker_set
from trainway.backends.kubernetes.elastic_size import ElasticSize
from trainway.backends.kubernetes.events import object_of, time_of
from trainway.backends.kubernetes.form import Form
from trainway.backends.kubernetes.harvest import Harvest, harvest_of
from trainway.backends.kubernetes.job_objects import JobObjects
from trainway.backends.kubernetes.log_keeper import LogKeeper
from trainway.backends.kubernetes.object_names import Names
from trainway.backends.kubernetes.observed_job import (
    ObservedJob,
    Verdict,
    is_settled,
    mpi_status,
    verdict_of,
    verdict_on,
)
from trainway.backends.kubernetes.output_transfer import OutputUploads
from trainway.backends.kubernetes.plain_driver import PlainDriver, is_held
from trainway.backends.kubernetes.plain_restarts import Restarts
from trainway.backends.kubernetes.plain_status import status_of, with_ready
from trainway.backends.kubernetes.record_book import RecordBook
from trainway.backends.kubernetes.session import Session
from trainway.backends.kubernetes.uploads import Uploads
from trainway.backends.kubernetes.usage.meter import MeasuredJob
from trainway.backends.kubernetes.usage.readings import Reading
from trainway.backends.kubernetes.waiting import Waiting, why_job
from trainway.errors import TrainwayError
from trainway.jobset.job_remarks import registered_links
from trainway.jobset.status import conditions_of, find_true
from trainway.json_types import Json
from trainway.kube import resources
from trainway.kube.backoff import Backoff
from trainway.kube.errors import ObjectNotFound
from trainway.kube.informer import Change
from trainway.kube.resources import Resource

CANCELLED: Final = Verdict(False, "Cancelled", "it was cancelled")
DELETED: Final = Verdict(False, "Deleted", "its objects were removed from the cluster")
_MOST_EVENTS: Final = 200
_SECONDS: Final = len("2026-11-15T05:00:00")
"""How many characters of a time go to its seconds; some events have more digits than
objects have."""
_SETTLE_S: Final = 60.0
"""How long the pods of a job that is over may take to go."""
_SYNC_S: Final = 2.0
"""How long listing may take before somebody is told why it does."""
_AGAIN_S: Final = 5.0
"""When what the cluster refused to do with Jobs is tried again."""
_BACKOFF: Final = Backoff(first=0.2, longest=10.0)

log = logging.getLogger(__name__)


class JobWatch:
    """One job, as its cluster shows it."""

    def __init__(self, session: Session, handle: Handle, book: RecordBook) -> None:
        self._session = session
        self._handle = handle
        self._book = book
        self._objects = JobObjects(session, handle)
        self._driver = PlainDriver(session, handle, self._objects)
        self._size = ElasticSize(session.client, handle)
        self._form = self._objects.form
        self._name = self._objects.name
        self._changed = asyncio.Event()
        self._observed = ObservedJob()
        self._names = Names(self._name, handle.get("roles") or {})
        self._events: deque[Json] = deque(maxlen=_MOST_EVENTS)
        self._top: Json | None = None
        self._was_seen = False
        self._jobset_status: Json = {}
        self._is_counting = True
        """Whether somebody still counts what runs: not once the JobSet is gone."""
        self._last_status: Json = {}
        self._is_cancelled = False
        self._settle_until: float | None = None
        self._verdict: Verdict | None = None
        """Set when all but the last lines of the logs is there."""
        self._failures = 0
        self._keeper: LogKeeper | None = None
        self._uploads: list[Uploads] = []
        self._harvest: Harvest | None = None
        """What brings the output of its pods, where it is wanted here."""
        self.log_limit = DEFAULT
        """How many bytes its logs may take here."""

    def wake(self, *, cancelled: bool = False) -> None:
        """Look again, maybe with the knowledge that its owner wants it to end."""
        self._is_cancelled = self._is_cancelled or cancelled
        self._changed.set()

    @property
    def has_begun(self) -> bool:
        """Whether it knows what earlier servers have written of the job."""
        return self._keeper is not None

    async def resize(self, nodes: int) -> None:
        """Let an elastic job have so many nodes at most."""
        await self._size.set(nodes)
        self._observed.set_size(nodes)
        self._changed.set()

    async def updates(self, after: int) -> AsyncIterator[Update]:
        """Records after that number, old then new, up to the end of the job."""
        known = await job_threads.run(self._book.read)
        self._observed = ObservedJob(known, self._handle.get("elastic"))
        self._last_status = self._observed.status
        self._driver.count_on(self._observed.restarts_before, self._observed.counted_before)
        fresh = [record for record in known if record["seq"] > after]
        if fresh:
            yield Update(tuple(fresh))
        if self._observed.is_over:
            return
        seq = max(after, known[-1]["seq"] if known else -1)
        client, directory = self._session.client, self._book.directory
        keeper = LogKeeper(
            client,
            self._session.namespace,
            directory / "logs",
            self._session.slots,
            limit=self.log_limit,
            on_limit=self._on_log_limit,
            on_refusal=self._on_log_refusal,
        )
        keeper.attempts_before = self._observed.restarts_before
        is_held = bool(self._handle.get("held"))
        begins_with_output = is_held or self._handle.get("continues")
        brought = [Uploads, *([OutputUploads] if begins_with_output else [])]
        uploads = [each(client, self._session.namespace, directory) for each in brought]
        if is_held:
            pods, namespace = self._objects.pods, self._session.namespace
            self._harvest = harvest_of(client, namespace, directory, pods, self._on_held)
        self._keeper, self._uploads = keeper, uploads
        objects = self._objects
        keys = [*objects.keys, *objects.side_keys]
        try:
            with (
                self._session.listening(self._name, keys, self._on_change),
                self._session.meter.measuring(self._measured()),
            ):
                async with aclosing(self._batches()) as batches:
                    async for records in batches:
                        update = tuple(self._book.append(records, seq))
                        seq += len(records)
                        yield Update(update)
        finally:
            for each in uploads:
                await each.close()
            if self._harvest is not None:
                await self._harvest.close()
            await keeper.close()

    async def bring(self) -> None:
        """Have the output of its pods here, where that is wanted."""
        if self._harvest is not None:
            await self._harvest.bring()

    async def finish_logs(self) -> None:
        """Wait until all that its pods have written is here, but not for ever."""
        if self._keeper is not None:
            await self._keeper.finish()

    def _measured(self) -> MeasuredJob:
        selectors = [label for resource, label in self._objects.keys if resource is resources.PODS]
        observed = self._observed

        def tell(readings: Mapping[str, Reading]) -> None:
            if observed.on_readings(readings, asyncio.get_running_loop().time()):
                self._changed.set()

        return MeasuredJob(self._session.namespace, tuple(selectors), lambda: observed.nodes, tell)

    async def _batches(self) -> AsyncGenerator[list[Json], None]:
        """New records whenever there are some, up to the end."""
        while not await self._has_synced():
            refusal = self._session.refusal(self._objects.keys)
            self._observed.set_waiting(Waiting("Forbidden", refusal) if refusal else None)
            if records := self._observed.take():
                yield records
        if verdict_of(self._status()) is None:
            self._observed.miss_pods()
        while True:
            self._changed.clear()
            pause = await self._observe()
            records = self._observed.take()
            if records:
                yield records
            if self._verdict is not None:
                await self.finish_logs()
                self._observed.end(self._verdict)
                yield self._observed.take()
                return
            if records:
                continue
            try:
                await asyncio.wait_for(self._changed.wait(), pause)
            except TimeoutError:
                continue

    async def _has_synced(self) -> bool:
        """Wait until all that is known of the job was listed; False: that takes long."""
        try:
            async with asyncio.timeout(_SYNC_S):
                await self._session.synced(self._objects.keys)
        except TimeoutError:
            return False
        return True

    def _on_log_refusal(self, message: str) -> None:
        self._observed.tell("LogsForbidden", f"its logs cannot be read: {message}", self._name)
        self._changed.set()

    def _on_change(self, resource: Resource, change: Change) -> None:
        """Called at once with every change that may be about this job."""
        obj = change.object
        if resource is resources.PODS:
            self._on_pod(change)
        elif resource is resources.EVENTS:
            if change.new is not None and self._concerns(obj):
                self._observed.on_event(obj)
                self._events.append(obj)
        elif resource is self._objects.top_key[0] and self._objects.owns(obj):
            self._top = change.new
            self._was_seen = True
        if resource is resources.JOBSETS and self._is_ours(obj):
            # Kept when it is removed: that it has ended may have been the last thing it said.
            self._jobset_status = obj.get("status") or {}
            self._is_counting = change.new is not None
        self._changed.set()

    def _on_held(self, message: str) -> None:
        self._observed.tell("OutputNotBrought", message, f"JobSet/{self._name}")
        self._changed.set()

    def _on_log_limit(self, message: str) -> None:
        self._observed.tell(REASON, message, f"JobSet/{self._name}")
        self._changed.set()

    def _on_pod(self, change: Change) -> None:
        keeper = self._keeper
        if change.new is None:
            self._observed.on_pod_gone(change.object)
            if keeper is not None:
                keeper.on_gone(change.object)
            return
        self._observed.on_pod(change.new)
        if keeper is not None:
            keeper.on_pod(change.new)
        for each in self._uploads:
            each.on_pod(change.new)
        if self._harvest is not None:
            self._harvest.on_pod(change.new)

    def _is_ours(self, jobset: Json) -> bool:
        """Whether a JobSet of our name is ours, or made by an operator from our object."""
        if self._form is not Form.SOURCE:
            return self._objects.owns(jobset)
        owners = jobset["metadata"].get("ownerReferences") or ()
        uid = self._observed.uid
        return any(owner.get("uid") == uid for owner in owners) if uid else bool(owners)

    async def _observe(self) -> float | None:
        """Look at everything once; gives when to look again even if nothing changes."""
        if self._top is None and not await self._is_gone():
            return self._pause()
        self._failures = 0
        status = self._status()
        self._observed.set_status(status)
        top = self._top
        if top is not None:
            self._observed.set_progress((top.get("status") or {}).get("trainerStatus") or {})
            self._observed.set_links(registered_links(top))
        is_driven = top is None or self._is_cancelled or await self._drive(top, status)
        pause = await self._conclude(top, status)
        return pause if is_driven else _AGAIN_S

    async def _drive(self, top: Json, status: Json) -> bool:
        """Do what is ours to do with its Jobs; False: it could not be done, and is due again."""
        is_driven = True
        if self._form is Form.JOBS:
            is_driven = await self._driver.drive(top, status)
        try:
            await self._size.keep(self._objects.sized_jobs())
        except TrainwayError as error:
            log.warning("%s: it does not get the size that it may have: %s", self._name, error)
            return False
        return is_driven

    async def _conclude(self, top: Json | None, status: Json) -> float | None:
        """End the job if it is over, else say why it waits."""
        verdict, is_complete = verdict_on(status, top if self._form is Form.SOURCE else None)
        if top is None:
            verdict, is_complete = verdict or (CANCELLED if self._is_cancelled else DELETED), True
        elif self._is_cancelled:
            return None
        elif why := self._observed.why_sick:
            self._verdict = Verdict(False, INTERRUPTED, why)  # whatever its JobSet makes of it
            return None
        if verdict is None:
            await self._explain(top)
            return None
        needed = self._handle.get("needed") or self._handle.get("roles") or ()
        why = self._observed.interruption(needed, verdict)
        if verdict not in (CANCELLED, DELETED):
            explained = self._observed.explained(needed, verdict)
            verdict = Verdict(False, INTERRUPTED, why) if why else explained
        counted = status if top is not None and self._is_counting else {}
        is_quiet = is_complete and is_settled(counted, self._objects.pods())
        if not is_quiet and (left := self._time_left()) > 0:
            return left
        self._verdict = verdict
        return None

    async def _explain(self, top: Json | None) -> None:
        """Why nothing runs yet."""
        assert top is not None  # noqa: S101 - a job without one has a verdict
        workload, place = self._objects.workload(), None
        if workload is not None and find_true(conditions_of(workload), "Admitted") is None:
            place = await self._session.positions.of(workload)
        waiting = why_job(top, self._observed.pods, self._events, workload, place)
        if waiting is not None and waiting.reason == "Deactivated":
            waiting = None  # by its owner: it is suspended, and does not wait
        self._observed.set_waiting(waiting)

    def _concerns(self, event: Json) -> bool:
        """Whether it is about an object of this job, and not of an earlier one of its name."""
        is_new = time_of(event)[:_SECONDS] >= self._observed.created[:_SECONDS]
        return is_new and self._names.match(*object_of(event))

    def _status(self) -> Json:
        if self._form is Form.GROUP:
            if self._top is not None:
                pods, before = self._objects.pods(), self._last_status
                self._last_status = leader_worker_set.status_of(self._top, pods, before)
            return self._last_status
        if self._form is Form.JOBS:
            if self._top is None:
                return self._last_status
            self._last_status = status_of(
                self._driver.policy,
                with_ready(self._objects.jobs(), self._objects.pods()),
                self._last_status,
                is_suspended=is_held(self._top),
                restarts=Restarts.on(self._top),
            )
            return self._last_status
        if self._jobset_status or self._handle["kind"] != "MPIJob" or self._top is None:
            return self._jobset_status
        return mpi_status(self._top)

    async def _is_gone(self) -> bool:
        """Whether the top object was removed, and has not just been made."""
        if self._was_seen:
            return True
        resource, _ = self._objects.top_key
        try:
            found = await self._session.client.get(
                resource, self._handle["top"], self._session.namespace
            )
        except ObjectNotFound:
            return True
        except TrainwayError as error:
            self._failures += 1
            log.info("%s: %s", self._name, error)
            return False
        return not self._objects.owns(found)

    def _pause(self) -> float | None:
        """Until a top object is looked for again that the informer has yet to see."""
        return (
            _BACKOFF.pause(self._failures, self._session.client.chance) if self._failures else None
        )

    def _time_left(self) -> float:
        now = asyncio.get_running_loop().time()
        if self._settle_until is None:
            self._settle_until = now + _SETTLE_S
        return self._settle_until - now
