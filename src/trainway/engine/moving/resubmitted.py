"""A job that is submitted again, with the places that it may go on at when one is lost. Pure."""

from dataclasses import asdict, replace

from trainway.engine.moving.failover import USUAL_WAIT_S, failover_of
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.submission import Submission, resubmission


def resubmitted(record: JobRecord, spec: JobSpec, *, is_renamed: bool, key: str = "") -> Submission:
    """What a job was made from, once more, with the strategy that it had.

    It begins where the job was last. A deadline is a moment, which may be over, and is left out;
    its places stay.
    """
    submission = resubmission(record, spec, is_renamed=is_renamed, key=key)
    found = failover_of(record)
    if found is None:
        return submission
    others = [asdict(each) for each in found.places if each.backend != record.backend]
    wait = None if found.wait_s == USUAL_WAIT_S else found.wait_s
    return replace(
        submission, candidates=others, recovery_strategy=str(found.strategy), max_wait=wait
    )
