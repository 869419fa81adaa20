"""What a request to run something asks of the engine.

Here, and not in the engine, a priority is held to its limits: what an older server has stored with
another one, such as a schedule, stays as it is.
"""

from collections.abc import Sequence
from dataclasses import replace

from trainway.engine.submission import Submission
from trainway.errors import UsageError
from trainway.families.table import spelled
from trainway.json_types import Json
from trainway.queueing.queue_policy import check_priority
from trainway.server.models import SubmitOptions


def submission_of(objects: Sequence[Json], options: SubmitOptions, key: str = "") -> Submission:
    """The submission; a UsageError if no job may have its priority, or these other places."""
    check_priority(options.priority, "options.priority")
    submission = _at_places(Submission(objects, **options.model_dump(), key=key))
    if submission.candidates and submission.search is not None:
        raise UsageError(
            "the trials of a search stay where they are submitted",
            field="options.candidates",
            hint="leave out max_wait and recovery_strategy",
        )
    return submission


def _at_places(submission: Submission) -> Submission:
    """The submission, whose places are spelled as a job has the one where it is."""
    others = [{**each, "backend": spelled(str(each["backend"]))} for each in submission.candidates]
    tasks = {
        task: {**each, "places": [spelled(str(place)) for place in each["places"]]}
        for task, each in submission.placement.items()
    }
    backend, sure = spelled(submission.backend), spelled(submission.sure)
    return replace(submission, backend=backend, sure=sure, candidates=others, placement=tasks)
