"""What becomes of a job that is for a worker pool: its workers have been set up already. Pure.

But for a job group that has machines of its own: each of its tasks has a setup of its own, which
runs on its nodes.
"""

from dataclasses import replace

from trainway.engine.submission import TASK_TYPE, Submission, type_of
from trainway.engine.worker_pool.assignment import is_for_workers
from trainway.jobset.labels import RENTED_PLACE
from trainway.json_types import Json

LEFT_OUT = "setup: it is left out, since the workers of a worker pool have had theirs"


def without_setup(submission: Submission, backend: str) -> tuple[Submission, list[str]]:
    """A submission without the setup of its tasks, where workers run it; and what to know of it."""
    if not is_for_workers(backend) or _is_own_group(submission):
        return submission, []
    objects = [_stripped(obj) for obj in submission.objects]
    warnings = [LEFT_OUT] if objects != list(submission.objects) else []
    return replace(submission, objects=objects), warnings


def _is_own_group(submission: Submission) -> bool:
    """Whether it is a job group for which machines were rented."""
    jobs = [obj for obj in submission.objects if type_of(obj) == TASK_TYPE]
    several = any(len((job.get("spec") or {}).get("tasks") or ()) > 1 for job in jobs)
    return several and RENTED_PLACE in submission.labels


def _stripped(obj: Json) -> Json:
    tasks = (obj.get("spec") or {}).get("tasks") if type_of(obj) == TASK_TYPE else None
    if not isinstance(tasks, list) or not all(isinstance(each, dict) for each in tasks):
        return obj
    kept = [
        {**each, "task": {name: value for name, value in task.items() if name != "setup"}}
        if isinstance(task := each.get("task"), dict)
        else each
        for each in tasks
    ]
    return {**obj, "spec": {**obj["spec"], "tasks": kept}}
