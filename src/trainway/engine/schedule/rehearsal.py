"""Refuses a schedule whose jobs nobody could submit: by what takes them in when they are due.

All of them go the way of a submission, to just before they are stored. What may be otherwise by
then, such as a budget that is spent, is no reason to refuse a schedule.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from trainway.backends import capabilities
from trainway.engine.admission import Admitted
from trainway.engine.costs.account import charged, single
from trainway.engine.intake import elements, run_of
from trainway.engine.run.record import NewRun, RunRecord
from trainway.engine.run.search import first_trials
from trainway.engine.schedule.context import Submits
from trainway.engine.submission import Prepared, Submission, at_places, suffixed
from trainway.errors import InvalidError, UnavailableError


async def rehearse(submits: Submits, submission: Submission, given: str) -> list[str]:
    """Raise what a submission would; what its owner should know, where it would be taken.

    `given` is the name that it has, where each of its jobs gets one of its own.
    """
    try:
        return await _rehearsed(submits, submission)
    except InvalidError as error:
        name = submission.name
        is_renamed = name not in ("", given)
        if error.hint or not is_renamed or not any(f'"{name}' in line for line in error.lines):
            raise
        hint = f"each job of the schedule has a name of its own, such as {name}: shorten {given}"
        raise InvalidError(list(error.lines), hint=hint) from None


async def _rehearsed(submits: Submits, submission: Submission) -> list[str]:
    if submission.search is not None:
        trials, run = first_trials(submission, suffixed(""))
        return await _admitted(submits, trials, run)
    if not submission.is_run:
        return await _somewhere(submits, submission)
    submission = charged(submission)
    jobs = elements(submission)
    run = run_of(submission, jobs)
    if submits.housing.is_housed(submission):
        return await _housed(submits, submission, len(jobs) if run.is_array else None)
    return await _admitted(submits, jobs, run)


async def _somewhere(submits: Submits, submission: Submission) -> list[str]:
    """One place that takes it is enough."""
    *before, last = at_places(submission)
    for each in before:
        with suppress(InvalidError, UnavailableError):
            return await _alone(submits, each)
    return await _alone(submits, last)


async def _alone(submits: Submits, submission: Submission) -> list[str]:
    submission = charged(single(submission))
    if submits.housing.is_housed(submission):
        return await _housed(submits, submission, None)
    return (await _taken(submits, [submission], None)).warnings


async def _housed(submits: Submits, submission: Submission, count: int | None) -> list[str]:
    """What gets a worker pool is looked at without one: whether there are machines for it."""
    await submits.housing.offer(submission)
    backend = submits.registry.get(submission.backend, submission.kubeconfig)
    jobs = elements(submission) if submission.is_run else [submission]
    told = [(await submits.intake.plan(job, backend, count))[1] for job in jobs]
    return told[0]


async def _admitted(submits: Submits, jobs: Sequence[Submission], run: NewRun) -> list[str]:
    async def store(due: Sequence[Submission], new: NewRun | RunRecord) -> Admitted:
        return await _taken(submits, due, new)

    return (await replace(submits.housing, store=store).admit(jobs, run)).warnings


async def _taken(
    submits: Submits, jobs: Sequence[Submission], run: NewRun | RunRecord | None
) -> Admitted:
    """What was taken in, of which nothing is kept."""
    backends = [submits.registry.get(each.backend, each.kubeconfig) for each in jobs]
    new = await replace(submits.intake, label=_unlabelled).take(jobs, backends, run)
    for job in new:
        capabilities.release(job.backend, job.prepared.port)
    told = new if run is not None and run.pipeline else new[:1]
    return Admitted([], [line for job in told for line in job.prepared.warnings])


async def _unlabelled(prepared: Prepared, backend: str) -> Prepared:
    """A budget that is spent, or a cluster that is taken down, is so today."""
    del backend
    return prepared
