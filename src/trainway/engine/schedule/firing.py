"""Fires one schedule: what is submitted for a moment, or why nothing is."""

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from trainway.backends.registry import Registry
from trainway.engine.record import JobRecord
from trainway.engine.run.record import RunRecord
from trainway.engine.schedule.context import ScheduleContext, Submits
from trainway.engine.schedule.record import (
    Result,
    ScheduleRecord,
    compact,
    key_of,
    read_submission,
)
from trainway.engine.schedule.submitting import Submitting
from trainway.engine.submission import Submission, at_places, name_of, suffixed
from trainway.errors import DatabaseError, InvalidError, TrainwayError, UnavailableError
from trainway.jobset import labels
from trainway.json_types import Json
from trainway.schedule.rules import GRACE, CatchUp, Overlap

log = logging.getLogger(__name__)


class Firing:
    """Does what is due for a schedule; nobody else does so meanwhile."""

    def __init__(self, around: ScheduleContext, submitting: Submitting) -> None:
        self._around = around
        self._ledger = around.ledger
        self._submitting = submitting

    def active(self, record: ScheduleRecord) -> list[JobRecord]:
        """Its jobs that have not ended, also such as this server could not take up."""
        return [
            job
            for job in self._around.live.records()
            if labels.SCHEDULE in job.labels  # as text, which is quicker than to read it
            and job.label_map.get(labels.SCHEDULE) == record.name
        ]

    async def fire(self, record: ScheduleRecord, moment: str) -> str | None:
        """Submit what is due; what became of it, or None where it has to wait for a job's end."""
        key = key_of(record.id, moment)
        self._submitting.refuse_second(record.id, key)
        searches, active = await self._open_searches(record), self.active(record)
        left = _first(active, searches) if record.overlap == Overlap.FORBID else ""
        # Looked up last: what is being made for this moment is none of what is left.
        made = await self._ledger.call(self._ledger.store.with_key, key)
        if made is not None:  # a server that was killed has come that far
            return _outcome(moment, Result.SUBMITTED, job=made.id, run=made.run)
        if left and self._is_made_up_for(record, moment):
            return None
        if left:
            said = f"{left} had not ended"
            log.info("the schedule %s was due at %s: %s", record.name, moment, said)
            return _outcome(moment, Result.SKIPPED, said)
        if record.overlap == Overlap.REPLACE and await self._ended(active, searches):
            return None
        try:
            return await self._submitted(record, moment, key)
        except (DatabaseError, UnavailableError):
            raise
        except TrainwayError as error:
            said = f"{error}; {error.hint}" if error.hint else str(error)
        except Exception:
            log.exception("the schedule %s cannot be fired", record.name)
            said = "an error of the server, which its log has"
        log.warning("the schedule %s submitted nothing at %s: %s", record.name, moment, said)
        return _outcome(moment, Result.FAILED, said)

    def _is_made_up_for(self, record: ScheduleRecord, moment: str) -> bool:
        """Whether a moment was missed and is not left out: it waits for the end of what is left."""
        late = self._around.clock() - datetime.fromisoformat(moment)
        return record.catch_up == CatchUp.ALL and late > GRACE

    async def _open_searches(self, record: ScheduleRecord) -> list[RunRecord]:
        """Its searches that create more trials, whether or not one is there just now."""
        found = self._around.submits.runs.searches.open
        if not found or record.overlap == Overlap.ALLOW:
            return []
        ids, store = [run.id for run in found], self._ledger.store.runs
        own = await self._ledger.call(store.labelled, ids, labels.SCHEDULE, record.name)
        return [run for run in found if run.id in own]

    async def _ended(self, active: Sequence[JobRecord], searches: Sequence[RunRecord]) -> bool:
        """End whatever is left of it; whether a job has to come to its end yet."""
        for run in searches:  # first, else they go on with other trials
            await self._around.submits.runs.searches.end_soon(run)
        live = self._around.live
        await self._around.cancel([live[job.id] for job in active if job.id in live])
        left = [job for job in active if job.id in live.left]
        if left and len(left) == len(active):
            said = _first(left, ())
            raise UnavailableError(f"{said} has not ended, and this server could not take it up")
        return bool(active)

    async def _submitted(self, record: ScheduleRecord, moment: str, key: str) -> str:
        text = await self._ledger.call(self._ledger.store.schedules.submission, record.id)
        wanted = due_at(read_submission(text), record, moment, self._around.submits.registry)
        job = await self._submitting.made(record.id, replace(wanted, key=key))
        run = job["spec"].get("run")
        return _outcome(moment, Result.SUBMITTED, job=job["metadata"]["id"], run=run)


def due_at(
    submission: Submission, record: ScheduleRecord, moment: str, registry: Registry
) -> Submission:
    """What a schedule submits at a moment, but for its key."""
    told = {labels.SCHEDULE: record.name, labels.SCHEDULED_AT: compact(moment)}
    name = submission.name
    places = [registry.get(each.backend, each.kubeconfig) for each in at_places(submission)]
    if any(place.schedules for place in places):  # names are taken
        name = suffixed(f"{name_of(submission) or record.name}-", key_of(record.id, moment))
    return replace(submission, name=name, labels={**submission.labels, **told})


async def submit_due(submits: Submits, submission: Submission) -> Json:
    """The job, or the first of a run."""
    if submission.search is not None:
        jobs, _ = await submits.runs.search(submission)
    elif submission.is_run:
        jobs, _ = await submits.submit_array(submission)
    else:
        return await _submit_somewhere(submits, submission)
    return jobs[0]


async def _submit_somewhere(submits: Submits, submission: Submission) -> Json:
    """The job, at the first of its places that takes it; it may still go to the others."""
    *before, last = at_places(submission)
    for each in before:
        with suppress(InvalidError, UnavailableError):
            return (await submits.submit(each))[0]
    return (await submits.submit(last))[0]


def _first(active: Sequence[JobRecord], searches: Sequence[RunRecord]) -> str:
    """One of those that have not ended, as it is told; empty: there is none."""
    jobs = [f"{job.name} ({job.id})" for job in active]
    return next(iter([*jobs, *(f"{run.name} ({run.id})" for run in searches)]), "")


def _outcome(moment: str, result: Result, message: str = "", **made: str | None) -> str:
    """As JSON; `job` and `run` are the ids of what was made."""
    said = {"time": moment, "result": result, "message": message, "job": None, "run": None}
    return json.dumps(said | made)
