"""The worker pool of a job that runs on a cloud: it is there for that job, and goes with it.

So the job has all that jobs of worker pools have: it waits for its machines, and goes on with
others when they are lost.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trainway.api.task.task_object import API_VERSION, KIND
from trainway.backends.pod_demand import pod_demands
from trainway.engine.live import LiveJob
from trainway.engine.phases import Phase
from trainway.engine.submission import TASK_TYPE, Submission, parted, type_of
from trainway.engine.worker_pool.request import NewPool
from trainway.errors import UsageError
from trainway.jobset.model import API_VERSION as JOBSET_VERSION
from trainway.jobset.model import KIND as JOBSET_KIND
from trainway.json_types import Json

if TYPE_CHECKING:
    from trainway.agent.base.plan_document import PodDemand

JOBSET_TYPE: Final = (JOBSET_VERSION, JOBSET_KIND)
NO_MACHINES: Final = "NoMachines"
"""The reason of a job that got none."""
_PREFIX: Final = "for-"
_NOTHING: Final = "true"
"""What a worker does to be ready where the job has no setup."""


def pool_name(key: str) -> str:
    """What the pool of a job is called; the same for the same request."""
    return f"{_PREFIX}{hashlib.sha256(key.encode()).hexdigest()[:10]}"


def pool_for(submission: Submission, name: str, jobs: int) -> NewPool:
    """The pool on whose workers a submission runs; raises for what has no nodes of one kind."""
    job, _ = parted(submission.objects)
    task = _task(job or {})
    most = min(jobs, submission.parallel or jobs)
    setup = {key: task[key] for key in ("workdir", "envs", "file_mounts") if task.get(key)}
    setup |= {"setup": task.get("setup") or _NOTHING}
    return NewPool(
        name=name,
        infra=submission.backend,
        nodes=int(task.get("num_nodes") or 1),
        resources={**(task.get("resources") or {})},
        slurm={},
        workers={"min_workers": 0, "max_workers": most, "downscale_delay_seconds": 0},
        submission=replace(
            submission,
            objects=_setting_up(submission, name, setup),
            name="",
            key="",
            digest="",
            num_jobs=None,
            parameters=None,
            search=None,
            parallel=None,
            candidates=(),
            notify=(),
        ),
        goes_with_jobs=True,
    )


def _setting_up(submission: Submission, name: str, setup: Json) -> list[Json]:
    """The objects of a submission, with what sets up a worker in place of the job."""
    job, others = parted(submission.objects)
    made: Json = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": f"{name}-setup"},
        "spec": {"tasks": [{"name": "setup", "task": setup}]},
    }
    if job is not None and type_of(job) == TASK_TYPE:
        spec = {**job["spec"], "tasks": [{**job["spec"]["tasks"][0], "task": setup}]}
        made = {**job, "spec": spec}
    return [made, *others]


def _task(job: Json) -> dict[str, Any]:
    """The nodes of a job, and what each has, as a task says it."""
    spec = job.get("spec") or {}
    if type_of(job) == TASK_TYPE:
        tasks = spec.get("tasks") or []
        if len(tasks) == 1:
            return dict(tasks[0].get("task") or {})
    elif type_of(job) == JOBSET_TYPE:
        demands = pod_demands(job)
        return {"num_nodes": len(demands), "resources": _resources(demands)}
    raise UsageError(
        f"a {job.get('kind') or 'job'} of this form cannot be given machines of a cloud yet",
        hint="rent them first (trainway launch, or trainway jobs pool apply), and run it there",
    )


def _resources(demands: "Sequence[PodDemand]") -> Json:
    """What each node needs so that any pod fits on it, as a task says it."""
    cpus = max(each["cpus"] for each in demands)
    memory = max(each["memory"] for each in demands)
    if any(each["gpus"] for each in demands):
        raise UsageError(
            "the job does not say which GPUs it needs",
            hint="write a task with resources: {accelerators: A100:8}, and run that",
        )
    resources: Json = {"cpus": f"{cpus:g}+"} if cpus else {}
    return resources | ({"memory": f"{memory / 2**30:g}+"} if memory else {})


async def fail_jobs(jobs: Sequence[LiveJob], why: str) -> None:
    """End jobs for which no machines could be had."""
    for live in jobs:
        if not live.has_begun:
            await live.insist(partial(live.ending, Phase.FAILED, NO_MACHINES, why))
