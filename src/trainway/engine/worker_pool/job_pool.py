"""The worker pool of a job that runs on a cloud: it is there for that job, and goes with it.

So the job has all that jobs of worker pools have: it waits for its machines, and goes on with
others when they are lost.
"""

import hashlib
from dataclasses import replace
from typing import Any, Final

from trainway.api.task.task_object import API_VERSION, KIND
from trainway.engine.submission import TASK_TYPE, Submission, parted, type_of
from trainway.engine.worker_pool.machines import Machines
from trainway.engine.worker_pool.request import NewPool
from trainway.json_types import Json

NO_MACHINES: Final = "NoMachines"
"""The reason of a job that got none."""
_PREFIX: Final = "for-"
_NOTHING: Final = "true"
"""What a worker does to be ready where the job has no setup."""


def pool_name(key: str) -> str:
    """What the pool of a job is called; the same for the same request."""
    return f"{_PREFIX}{hashlib.sha256(key.encode()).hexdigest()[:10]}"


def pool_for(submission: Submission, name: str, jobs: int, machines: Machines) -> NewPool:
    """The pool of these machines, on whose workers a submission runs."""
    job, _ = parted(submission.objects)
    task = task_of(job or {}) or {}
    most = min(jobs, submission.parallel or jobs)
    setup = {key: task[key] for key in ("workdir", "envs", "file_mounts") if task.get(key)}
    setup |= {"setup": task.get("setup") or _NOTHING}
    return NewPool(
        name=name,
        infra=submission.backend,
        nodes=machines.nodes,
        resources=machines.resources,
        slurm={},
        workers={"min_workers": 0, "max_workers": most, "downscale_delay_seconds": 0},
        submission=Submission(
            _setting_up(submission, name, setup),
            priority=submission.priority,
            workdir=submission.workdir,
            environ=submission.environ,
            oversubscribe=submission.oversubscribe,
            labels=submission.labels,
            isolation=submission.isolation,
            placeholders=submission.placeholders,
            queue=submission.queue,
        ),
        goes_with_jobs=True,
    )


def task_of(job: Json) -> dict[str, Any] | None:
    """The one task that a job is, which says itself what its machines have; None: it is none."""
    tasks = (job.get("spec") or {}).get("tasks") or []
    if type_of(job) != TASK_TYPE or len(tasks) != 1:
        return None
    return dict(tasks[0].get("task") or {})


def machines_of_task(task: dict[str, Any]) -> Machines:
    """The machines that a task asks for."""
    return Machines(int(task.get("num_nodes") or 1), {**(task.get("resources") or {})})


def as_spot(machines: Machines) -> Machines:
    """The same machines, as the cloud rents them out until somebody pays more."""
    return replace(machines, resources={**machines.resources, "use_spot": True})


def _setting_up(submission: Submission, name: str, setup: Json) -> list[Json]:
    """What sets up a worker: the setup of a task with all that this reads, else nothing."""
    job, others = parted(submission.objects)
    if job is not None and task_of(job) is not None:
        spec = {**job["spec"], "tasks": [{**job["spec"]["tasks"][0], "task": setup}]}
        return [{**job, "spec": spec}, *others]
    made: Json = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": f"{name}-setup", "labels": labels_of(job or {})},
        "spec": {"tasks": [{"name": "setup", "task": setup}]},
    }
    return [made]


def labels_of(job: Json) -> dict[str, str]:
    """The labels that a job has by itself."""
    metadata = job.get("metadata")
    return dict((metadata if isinstance(metadata, dict) else {}).get("labels") or {})
