"""A job that is submitted again, with the places that it may go on at when one is lost. Pure."""

from dataclasses import asdict, replace
from datetime import datetime

from trainway.engine.moving.candidates import candidates_of
from trainway.engine.moving.failover import USUAL_WAIT_S, failover_of
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.submission import Submission, resubmission
from trainway.engine.times import time_text
from trainway.jobset.status import moment


def resubmitted(
    record: JobRecord, spec: JobSpec, now: datetime, *, is_renamed: bool, key: str = ""
) -> Submission:
    """What a job was made from, once more, with the strategy that it had.

    It begins where the job was last; where none of its places was chosen yet, one is chosen when
    its turn comes. With a deadline it gets as much time as the job had.
    """
    waits = candidates_of(record)
    if waits is None or waits.prefer is None:
        submission = resubmission(record, spec, is_renamed=is_renamed, key=key)
    else:  # no place has its name yet
        submission = replace(
            resubmission(record, spec, is_renamed=False, key=key),
            candidates=[asdict(each) for each in waits.rest],
            prefer=waits.prefer,
            max_wait=waits.max_wait_s,
        )
    found = failover_of(record)
    if found is None:
        return submission
    is_rented = found.promise is not None and found.promise.rents  # both of its pools are gone
    places = () if is_rented else found.places
    others = [asdict(each) for each in places if each.backend != found.here(record)]
    wait = None if found.wait_s == USUAL_WAIT_S else found.wait_s
    kept = replace(
        submission, candidates=others, recovery_strategy=str(found.strategy), max_wait=wait
    )
    if found.promise is None:
        return kept
    given = moment(found.promise.at) - moment(found.promise.began)
    sure, work = found.places[-1].backend, found.promise.work_s
    at, stage = time_text(now + given), found.promise.stage
    return replace(kept, deadline=at, work=work, sure=sure, stage=stage)
