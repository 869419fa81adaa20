"""What a submission asks for when its place is lost, or so that a deadline is kept. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from trainway.api.timeout import LONGEST
from trainway.engine.moving.failover import USUAL_WAIT_S, Failover
from trainway.engine.moving.move import Candidate
from trainway.engine.recovery.promise import RENTED_START_S, Promise
from trainway.engine.recovery.strategy import Strategy
from trainway.engine.submission import Submission
from trainway.engine.times import time_text
from trainway.engine.worker_pool.assignment import is_for_workers
from trainway.engine.worker_pool.rented_place import place_again
from trainway.errors import UsageError
from trainway.families.table import family_of
from trainway.json_types import Json

_HINT = "give a later deadline, or less work"


def recovery_of(
    submission: Submission, objects: Sequence[Json], place: str, now: datetime
) -> str | None:
    """It as the record of the job has it; None: nothing. UsageError: that cannot be."""
    promise = _promise(submission, now)
    if submission.recovery_strategy is None and promise is None:
        return None
    if promise is None or not promise.rents:
        place = place_again(place, submission.labels)  # its machines are rented anew each time
    here = Candidate(place, objects, tuple(submission.kubeconfig), dict(submission.environ))
    places = [here, *(Candidate(**each) for each in submission.candidates)]
    if promise is not None:
        places.sort(key=lambda each: each.backend == submission.sure)  # which is the last one
        _check_sure(submission.sure, places)
    wait = USUAL_WAIT_S if submission.max_wait is None else submission.max_wait
    strategy = Strategy(submission.recovery_strategy or Strategy.EAGER_NEXT)
    return Failover(strategy, places, wait, promise=promise).text()


def _check_sure(sure: str, places: Sequence[Candidate]) -> None:
    if places[-1].backend != sure:
        raise UsageError(
            f"the sure place, {sure or 'which is not named'}, does not take the job",
            field="options.sure",
            hint="trainway plan says why",
        )


def _promise(submission: Submission, now: datetime) -> Promise | None:
    """The deadline that is asked for, if it can be kept."""
    if submission.deadline is None:
        if submission.work is not None:
            raise UsageError("work is told only for a deadline", field="options.work")
        return None
    field = "options.deadline"
    try:
        at = datetime.fromisoformat(submission.deadline)
    except ValueError:
        said = f"it is not a time: {submission.deadline}"
        raise UsageError(said, field=field, hint="write 2026-11-20T08:00:00Z") from None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    if submission.work is None:
        raise UsageError(
            "a deadline needs the work that is to be done until then",
            field="options.work",
            hint="say how long the job computes if nothing interrupts it",
        )
    if submission.recovery_strategy == Strategy.NONE:
        raise UsageError(
            "a job with a deadline is recovered", field=field, hint="leave out the strategy none"
        )
    if not submission.candidates or submission.is_run:
        raise UsageError(
            "a deadline needs one job and several places that take it",
            field=field,
            hint="write --on slurm/cheap,local; trainway plan says why a place does not take it",
        )
    left = (at - now).total_seconds()
    if left <= 0:
        raise UsageError("the deadline is over", field=field, hint=_HINT)
    if left > LONGEST:
        raise UsageError(
            "the deadline is more than 68 years away", field=field, hint="give an earlier one"
        )
    promise = Promise(time_text(at), submission.work, time_text(now), stage=submission.stage)
    if is_for_workers(submission.backend) and is_for_workers(submission.sure):
        promise = replace(promise, start_s=RENTED_START_S, rents=True)
    elif family_of(submission.sure).rents:
        promise = replace(promise, start_s=RENTED_START_S)
    if not promise.terms.is_possible:
        raise UsageError(
            f"the deadline cannot be kept: {submission.work:g} seconds of work and "
            f"{promise.start_s:g} for a start are more than the {left:.0f} that are left",
            field=field,
            hint=_HINT,
        )
    return promise
