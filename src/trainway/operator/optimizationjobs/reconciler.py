"""One look at an OptimizationJob: which trials it lacks, which are stopped, and its status.

All is decided by `trainway.optimization` from the TrainJobs that belong to the search. A process
that dies anywhere leaves a state from which the next one goes on: the name of a trial is its
number, so none is created twice, and one that the cache does not show yet is refused by the API
server. The end of a search is written before its last trials are stopped.
"""

import logging
from typing import Final

from trainway.api.optimizationjob import OptimizationJob
from trainway.errors import TrainwayError
from trainway.jobset.labels import PRUNED
from trainway.json_types import Json
from trainway.kube.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    InvalidObject,
    ObjectNotFound,
    Refused,
)
from trainway.kube.owners import controller_of, is_controlled_by, owner_reference
from trainway.kube.resources import OPTIMIZATION_JOBS, TRAINJOBS
from trainway.kube.store import Store
from trainway.operator.caches import BY_OPTIMIZATION_JOB
from trainway.operator.context import Context
from trainway.operator.namespace_end import namespace_goes
from trainway.operator.optimizationjobs.memory import Memory, Note
from trainway.operator.optimizationjobs.status import (
    NORMAL,
    WARNING,
    end_of,
    news,
    refused,
    status_of,
)
from trainway.operator.optimizationjobs.trials import point_of, trials_of, with_history
from trainway.operator.status_patch import status_patch
from trainway.operator.stored_object import parse
from trainway.optimization.decision import Decision, SearchStatus, decide
from trainway.optimization.options import search_of
from trainway.optimization.pruning import Stop
from trainway.optimization.study import Study
from trainway.optimization.suggestion import Suggestion
from trainway.optimization.trainjob import trial_of
from trainway.optimization.trial import Trial
from trainway.optimization.validation import validate_optimizationjob

logger = logging.getLogger(__name__)

KIND: Final = "OptimizationJob"
FIELD_OWNER: Final = "trainer"
_SOON_S: Final = 1.0
_QUOTA: Final = "exceeded quota"


class _WaitError(Exception):
    """A trial cannot be created yet."""


class _ProblemError(Exception):
    """No trial can be created, now or later."""


class Reconciler:
    """Brings one search after the other to where it should be."""

    def __init__(self, context: Context, searches: Store, trainjobs: Store) -> None:
        self.memory = Memory()
        self._context = context
        self._searches = searches
        self._trainjobs = trainjobs

    async def reconcile(self, key: str) -> float | None:
        """Do what is to be done now; gives the seconds after which to look again."""
        obj = self._searches.get(key)
        if obj is None:
            self.memory.forget(key)
            return None
        if "deletionTimestamp" in obj["metadata"]:
            return None
        note = self.memory.note(key, obj["metadata"]["uid"])
        job, errors = parse(obj, OptimizationJob, validate_optimizationjob)
        if job is None:
            text = "; ".join(str(error) for error in errors)
            return None if end_of(_status(obj)) else await self._write(obj, refused(text))
        study = search_of(job)
        cached = self._trainjobs.by_index(BY_OPTIMIZATION_JOB, key)
        trials = self._trials(note, study, note.known(cached, self._context.now()))
        if end_of(_status(obj)):
            await self._settle(obj, trials)
            return None
        try:
            return await self._advance(obj, job, study, trials)
        except Refused as error:
            if namespace_goes(error):
                return None
            raise

    async def _advance(
        self, obj: Json, job: OptimizationJob, study: Study, trials: list[Trial]
    ) -> float | None:
        """Go on with a search that is not over."""
        problem, wait = "", None
        try:
            decision = decide(study, trials)
            await self._create(obj, job, decision)
        except _WaitError:
            wait = _SOON_S
        except (_ProblemError, TrainwayError) as error:
            if isinstance(error, ApiError):
                raise
            hint = error.hint if isinstance(error, TrainwayError) else None
            problem = f"{error}; {hint}" if hint else str(error)
            decision = decide(study, trials, problem)
        for stop in decision.stop if not problem else ():
            await self._stop(obj, stop)
        again = await self._write(obj, decision.status)
        return _SOON_S if problem else wait or again

    async def _settle(self, obj: Json, trials: list[Trial]) -> None:
        """A search that is over has no trials that go on."""
        for trial in trials:
            if trial.is_active and not trial.is_stopping:
                await self._stop(obj, Stop(trial, "the search has ended"))

    def _trials(self, note: Note, study: Study, trainjobs: list[Json]) -> list[Trial]:
        points = {
            job["metadata"]["name"]: note.observe(job, point_of(job, study.metric))
            for job in trainjobs
        }
        found = trials_of(note.uid, trainjobs, study.metric)
        return [with_history(trial, points[trial.name]) for trial in found]

    # Trials

    async def _create(self, obj: Json, job: OptimizationJob, decision: Decision) -> None:
        """Create the trials in their order; none after one that cannot be."""
        metadata = obj["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        for suggestion in decision.create:
            trial = trial_of(job, suggestion)
            trial["metadata"]["ownerReferences"] = [owner_reference(obj)]
            answer = await self._send(obj, trial)
            note = self.memory.note(key, metadata["uid"])
            note.sent[answer["metadata"]["name"]] = (self._context.now(), answer)
            self._tell(obj, NORMAL, "TrialCreated", _created_words(answer, suggestion))

    async def _send(self, obj: Json, trial: Json) -> Json:
        namespace, name = obj["metadata"]["namespace"], trial["metadata"]["name"]
        try:
            return await self._context.client.create(
                TRAINJOBS, trial, namespace, field_manager=FIELD_OWNER
            )
        except AlreadyExists as error:
            self._judge(obj, name)
            raise _WaitError from error  # the cache will show it
        except InvalidObject as error:
            raise _ProblemError(f"TrainJob {name}: {error}") from error
        except Refused as error:
            if namespace_goes(error):
                raise
            self._tell_once(obj, f"TrainJob {name}: {error}")
            if _QUOTA in error.message:
                raise  # there will be room
            raise _ProblemError(f"TrainJob {name}: {error}") from error

    def _judge(self, obj: Json, name: str) -> None:
        """A TrainJob of that name is there: it is ours, or goes away, or is in the way for good."""
        metadata = obj["metadata"]
        found = self._trainjobs.get(f"{metadata['namespace']}/{name}")
        if found is None or is_controlled_by(found, metadata["uid"]):
            return
        owner = controller_of(found) or {}
        is_left_over = (owner.get("kind"), owner.get("name")) == (KIND, metadata["name"])
        if not is_left_over and "deletionTimestamp" not in found["metadata"]:
            raise _ProblemError(
                f'TrainJob "{name}" exists but does not belong to the OptimizationJob'
            )

    async def _stop(self, obj: Json, stop: Stop) -> None:
        """End a trial early; its TrainJob says why."""
        metadata, name = obj["metadata"], stop.trial.name
        body = {"metadata": {"annotations": {PRUNED: stop.why}}}
        try:
            await self._context.client.patch(TRAINJOBS, name, metadata["namespace"], body)
        except ObjectNotFound:
            return
        self._tell(obj, NORMAL, "TrialStopped", f"Stopped trial {name}: {stop.why}")

    # What is told

    async def _write(self, obj: Json, found: SearchStatus) -> float | None:
        """Write the status if it changed."""
        previous = _status(obj)
        status = status_of(previous, found, self._context.now())
        patch = status_patch(obj, status)
        if patch is None:
            return None
        metadata = obj["metadata"]
        try:
            await self._context.client.patch(
                OPTIMIZATION_JOBS,
                metadata["name"],
                metadata["namespace"],
                patch,
                subresource="status",
            )
        except ObjectNotFound:
            return None
        except Conflict:
            return _SOON_S  # what we know is old; news is on the way
        for item in news(previous, status):
            self._tell(obj, item.type, item.reason, item.message)
        if not previous.get("conditions"):
            self._context.metrics.job_created(KIND)
        if end := end_of(status):
            self._context.metrics.job_finished(KIND, end)
        return None

    def _tell_once(self, obj: Json, message: str) -> None:
        metadata = obj["metadata"]
        note = self.memory.note(f"{metadata['namespace']}/{metadata['name']}", metadata["uid"])
        if message not in note.told:
            note.told.add(message)
            self._tell(obj, WARNING, "TrainJobsCreationFailed", message)

    def _tell(self, obj: Json, type_: str, reason: str, message: str) -> None:
        self._context.optimization_recorder.record(obj, type_, reason, message)


def _status(obj: Json) -> Json:
    return obj.get("status") or {}


def _created_words(trial: Json, suggestion: Suggestion) -> str:
    values = ", ".join(f"{name}={text}" for name, text in suggestion.parameters.items())
    return f"Created trial {trial['metadata']['name']} with {values}"
