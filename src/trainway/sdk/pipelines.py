"""Pipelines on the client's side: which objects are one, and what comes of submitting them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from trainway.json_types import Json
from trainway.sdk.rest import Rest, Submission

if TYPE_CHECKING:
    from trainway.sdk.job import Job
    from trainway.sdk.run import Run

PIPELINE: Final[Json] = {"pipeline": True}
"""What is asked of the server: a job for each task."""
_KIND: Final = "Task"
_PARALLEL: Final = "parallel"


def is_pipeline(objects: Sequence[Json]) -> bool:
    """Whether there is a Task among them whose several tasks run one after the other."""
    return any(obj.get("kind") == _KIND and _is_serial(obj.get("spec")) for obj in objects)


def _is_serial(spec: Any) -> bool:
    header = spec.get("header") or {}
    return len(spec["tasks"]) > 1 and str(header.get("execution")).lower() != _PARALLEL


def submitted(
    rest: Rest, submission: Submission, warn: Callable[[str], None], *, allow_pickle: bool
) -> "Job | Run":
    """The new job, or the run of the tasks of a pipeline."""
    if not is_pipeline(submission.objects):
        from trainway.sdk.job import Job  # noqa: PLC0415 - who asks `is_pipeline` needs none

        job, warnings = rest.submit(submission)
        for warning in warnings:
            warn(warning)
        return Job(rest, job, allow_pickle=allow_pickle)
    from trainway.sdk.run import Run  # noqa: PLC0415 - only for pipelines
    from trainway.sdk.run_rest import RunRest  # noqa: PLC0415 - as above

    jobs, warnings = rest.submit_run(submission, PIPELINE)
    for warning in warnings:
        warn(warning)
    runs = RunRest(rest.transport)
    return Run(runs, runs.run(jobs[0]["spec"]["run"]), allow_pickle=allow_pickle)
