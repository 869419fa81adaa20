"""One look at a TrainJob: what its status is, which objects it lacks, and what to tell of it.

The status comes first, for whoever is finished or past the deadline gets no objects any more. It
is written before anything is deleted, so that a process that dies in between leaves a state from
which the next one goes on.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from trainway.api.trainjob import CONTROLLER
from trainway.jobset.labels import BUILD_ERROR, HANG_REPORTED, HANG_TIMEOUT, TTL_SECONDS
from trainway.jobset.status import conditions_of
from trainway.jobset.trainjob_status import TrainJobOutcome, is_finished
from trainway.json_types import Json
from trainway.kube.errors import ApiError, Conflict, ObjectNotFound
from trainway.kube.owners import is_controlled_by
from trainway.kube.resources import JOBSETS, TRAINJOBS
from trainway.kube.store import Store
from trainway.kube.webhook_failure import webhook_failure
from trainway.operator.caches import BY_JOB, runtime_key
from trainway.operator.context import Context
from trainway.operator.metrics import RestartCause
from trainway.operator.trainjobs.annotations import annotation, seconds
from trainway.operator.trainjobs.build_error import REASON, BuildError, event_message, shortened
from trainway.operator.trainjobs.hang import hang
from trainway.operator.trainjobs.measures import Quantity, measure, next_measure
from trainway.operator.trainjobs.memory import Memory, Note
from trainway.operator.trainjobs.sender import Sender
from trainway.operator.trainjobs.status import (
    WARNING,
    end_phase,
    news,
    outcome,
    status_patch,
)
from trainway.operator.trainjobs.ttl import time_to_live
from trainway.operator.trainjobs.vanished import jobset_end
from trainway.operator.uncreated_pods import REASON as UNCREATED
from trainway.operator.uncreated_pods import about, complaints, job_names

logger = logging.getLogger(__name__)


KIND: Final = "TrainJob"
_TELL_AGAIN: Final = timedelta(minutes=5)
_ENDPOINT_SOON: Final = timedelta(seconds=1)
_ENDPOINT_LATER: Final = timedelta(hours=1)
"""Certificates of the endpoint change; the copies beside the pods follow within this time."""


@dataclass(frozen=True, slots=True)
class _Look:
    """A TrainJob and what was known of it when the look began."""

    key: str
    job: Json
    note: Note
    now: datetime

    @property
    def name(self) -> str:
        return str(self.job["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.job["metadata"]["namespace"])

    @property
    def uid(self) -> str:
        return str(self.job["metadata"]["uid"])

    @property
    def previous(self) -> Json:
        """The status."""
        return self.job.get("status") or {}


class Reconciler:
    """Brings one TrainJob after the other to where it should be."""

    def __init__(
        self,
        context: Context,
        trainjobs: Store,
        jobsets: Store,
        memory: Memory,
        sender: Sender,
        look_later: Callable[[str, float], None],
        uncreated: Store | None = None,
    ) -> None:
        self._uncreated = uncreated
        self._context = context
        self._look_later = look_later
        self._trainjobs = trainjobs
        self._jobsets = jobsets
        self._memory = memory
        self._sender = sender

    async def reconcile(self, key: str) -> float | None:
        """Do what is to be done now; gives the seconds after which to look again."""
        job = self._trainjobs.get(key)
        if job is None:
            self._memory.forget(key)
            return None
        if is_managed_elsewhere(job) or job["metadata"].get("deletionTimestamp"):
            return None
        note = self._memory.note(key, job["metadata"]["uid"])
        look = _Look(key, note.latest(job), note, self._context.now())
        return _earliest(await self._look_at(look))

    async def _look_at(self, look: _Look) -> list[timedelta | None]:
        jobset = await self._jobset(look)
        found = outcome(look.job, jobset, look.now)
        ended = is_finished(found.status.get("conditions") or [])
        waits = [found.look_again_after]
        problem: ApiError | BuildError | None = None
        if not ended:
            try:
                waits.append(await self._send(look, jobset))
            except (ApiError, BuildError) as error:
                problem = error
        job = await self._write(look, found)
        waits.append(self._measure(look, jobset, found, ended=ended))
        if found.delete_jobset and jobset is not None:
            await self._delete_jobset(look, jobset)
        if ended:
            look.note.settle()
            self._memory.forget_end(look.key)
        else:
            await self._show(look, problem)
            self._tell_uncreated(look, jobset)
        self._warn(look)
        waits += [await self._watch_progress(look, job), await self._expire(look, job)]
        if problem is not None:
            later = _earliest(waits)
            if later is not None:  # a deadline does not wait for the next attempt
                self._look_later(look.key, later)
            raise problem
        return waits

    async def _jobset(self, look: _Look) -> Json | None:
        """The TrainJob's own JobSet; where it is gone, how it ended, if it did."""
        found = self._jobsets.get(look.key)
        if found is not None:
            return found if is_controlled_by(found, look.uid) else None
        if is_finished(conditions_of(look.job)):
            return None
        end = self._memory.end(look.key)
        if end is not None:
            return end if is_controlled_by(end, look.uid) else None
        if self._sender.may_have_vanished(look.job, look.note):
            return await jobset_end(self._context.client, look.job)
        return None

    async def _send(self, look: _Look, jobset: Json | None) -> timedelta | None:
        endpoint = self._context.endpoint()
        wants_endpoint = self._context.config.feature_gates.train_job_status
        if wants_endpoint and endpoint is None:
            return _ENDPOINT_SOON
        sent = await self._sender.send(look.job, look.note, jobset, endpoint, look.now)
        if sent.created_jobset and not look.previous.get("jobsStatus"):
            self._context.metrics.job_created(KIND)
        later = _ENDPOINT_LATER if endpoint is not None else None
        return min(filter(None, (sent.look_again_after, later)), default=None)

    async def _write(self, look: _Look, found: TrainJobOutcome) -> Json:
        """Write the status if it changed; gives the TrainJob with it."""
        patch = status_patch(look.job, found.status)
        if patch is None:
            return look.job
        try:
            answer = await self._context.client.patch(
                TRAINJOBS, look.name, look.namespace, patch, subresource="status"
            )
        except ObjectNotFound:
            return look.job  # it is gone, and the cache will show it
        version, status = answer["metadata"]["resourceVersion"], answer.get("status") or {}
        look.note.written = (version, status)
        for item in news(look.previous, status):
            self._tell(look, item.type, item.reason, item.message)
        phase = end_phase(look.previous, status)
        if phase:
            self._context.metrics.job_finished(KIND, phase)
        return {**look.job, "status": status}

    async def _delete_jobset(self, look: _Look, jobset: Json) -> None:
        try:
            await self._context.client.delete(
                JOBSETS, look.name, look.namespace, uid=jobset["metadata"]["uid"]
            )
        except (ObjectNotFound, Conflict) as error:
            logger.debug("the JobSet of %s is gone: %s", look.key, error)

    async def _show(self, look: _Look, problem: ApiError | BuildError | None) -> None:
        """Tell of a build error, and take it back when it is over."""
        shown = annotation(look.job, BUILD_ERROR)
        if problem is None:
            look.note.shown = None
            if shown is not None:
                await self._annotate(look, BUILD_ERROR, None)
            return
        message = _showable(problem)
        if not message:
            return
        if isinstance(problem, BuildError) and problem.missing_runtime:
            self._memory.wait_for_runtime(runtime_key(look.job), look.key)
        text, told = shortened(message), look.note.shown
        if told is None or told[0] != text or look.now - told[1] >= _TELL_AGAIN:
            look.note.shown = (text, look.now)
            self._tell(look, WARNING, REASON, event_message(message))
        if shown != text:
            await self._annotate(look, BUILD_ERROR, text)

    async def _annotate(self, look: _Look, name: str, text: str | None) -> None:
        """Set an annotation, or remove it; a refusal is not worth failing for."""
        body = {"metadata": {"uid": look.uid, "annotations": {name: text}}}
        try:
            await self._context.client.patch(TRAINJOBS, look.name, look.namespace, body)
        except ApiError as error:
            logger.info("TrainJob %s: annotation %s was not written: %s", look.key, name, error)

    def _warn(self, look: _Look) -> None:
        """Tell once of settings that cannot be used."""
        for name, least in ((TTL_SECONDS, 0), (HANG_TIMEOUT, 1)):
            problem = seconds(look.job, name, least).problem
            if problem and problem not in look.note.warned:
                look.note.warned.add(problem)
                self._tell(look, WARNING, "InvalidAnnotation", problem)

    def _tell_uncreated(self, look: _Look, jobset: Json | None) -> None:
        """Tell once why pods cannot be made."""
        if self._uncreated is None or jobset is None:
            return
        found = about(self._uncreated.by_index(BY_JOB, look.key), job_names(jobset))
        for complaint in complaints(found):
            if complaint not in look.note.warned:
                look.note.warned.add(complaint)
                self._tell(look, WARNING, UNCREATED, shortened(complaint))

    async def _watch_progress(self, look: _Look, job: Json) -> timedelta | None:
        watch = hang(job, look.now)
        if watch.report and watch.mark not in look.note.warned:
            look.note.warned.add(watch.mark)
            await self._annotate(look, HANG_REPORTED, watch.mark)
            self._tell(look, WARNING, "TrainingHang", watch.report)
            self._context.metrics.hang(KIND)
        return watch.look_again_after

    async def _expire(self, look: _Look, job: Json) -> timedelta | None:
        """Delete a finished TrainJob whose time is over."""
        left = time_to_live(job, look.now)
        if left is None or left > timedelta():
            return left
        try:
            await self._context.client.delete(TRAINJOBS, look.name, look.namespace, uid=look.uid)
        except (ObjectNotFound, Conflict) as error:
            logger.debug("TrainJob %s is gone: %s", look.key, error)
        return None

    def _measure(
        self, look: _Look, jobset: Json | None, found: TrainJobOutcome, *, ended: bool
    ) -> timedelta | None:
        metrics, note = self._context.metrics, look.note
        seen = None if ended else jobset
        job = {**look.job, "status": found.status}
        note.observed, measures = measure(note.observed, job, seen, note.gpus, look.now)
        for item in measures:
            match item.quantity:
                case Quantity.RUNNING:
                    metrics.job_running(KIND, item.value)
                case Quantity.GANG_WAIT if note.is_gang:
                    metrics.gang_wait(KIND, item.value)
                case Quantity.RESTARTS:
                    metrics.restart(KIND, RestartCause.FAILURE, int(item.value))
                case Quantity.UNCOUNTED_RESTARTS:
                    metrics.restart(KIND, RestartCause.UNCOUNTED, int(item.value))
                case Quantity.GPU_SECONDS:
                    metrics.gpu_seconds(KIND, look.namespace, item.value)
        return next_measure(note.observed, note.gpus)

    def _tell(self, look: _Look, type_: str, reason: str, message: str) -> None:
        self._context.recorder.record(look.job, type_, reason, message)


def _showable(problem: ApiError | BuildError) -> str:
    """What the author of a TrainJob is told; empty: it may pass by itself in a moment."""
    if isinstance(problem, BuildError):
        return problem.message
    failure = webhook_failure(problem.message)
    return failure.message if failure else ""


def is_managed_elsewhere(job: Json) -> bool:
    """Whether another controller runs the TrainJob."""
    return ((job.get("spec") or {}).get("managedBy") or CONTROLLER) != CONTROLLER


def _earliest(waits: Iterable[timedelta | None]) -> float | None:
    """The seconds until the first of several moments."""
    shortest = min((wait for wait in waits if wait is not None), default=None)
    return None if shortest is None else shortest.total_seconds()
