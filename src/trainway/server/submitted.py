"""What a request to run something asks of the engine.

Here, and not in the engine, a priority is held to its limits: what an older server has stored with
another one, such as a schedule, stays as it is.
"""

from collections.abc import Sequence

from trainway.engine.submission import Submission
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.queueing.queue_policy import check_priority
from trainway.server.models import SubmitOptions


def submission_of(objects: Sequence[Json], options: SubmitOptions, key: str = "") -> Submission:
    """The submission; a UsageError if no job may have its priority, or these other places."""
    check_priority(options.priority, "options.priority")
    submission = Submission(objects, **options.model_dump(), key=key)
    if submission.candidates and submission.search is not None:
        raise UsageError(
            "the trials of a search stay where they are submitted",
            field="options.candidates",
            hint="leave out max_wait and recovery_strategy",
        )
    return submission
