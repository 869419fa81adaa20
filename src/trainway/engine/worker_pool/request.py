"""What somebody asks for when they want a worker pool, and what is wrong with it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from trainway.api.task import pool as pool_section
from trainway.engine.cluster.name import check_name
from trainway.engine.cluster.request import Launch
from trainway.engine.submission import Submission, parted
from trainway.engine.worker_pool.record import WorkerPoolRecord
from trainway.engine.worker_pool.size import Size, size_of
from trainway.errors import ConflictError, InvalidError, UsageError
from trainway.schema.shape import check

_LONGEST_NAME: Final = 50
"""Its workers have its name and a number, and a cluster may have 63 characters."""


@dataclass(frozen=True)
class NewPool:
    """A request for a worker pool."""

    name: str
    infra: str
    nodes: int
    resources: Mapping[str, Any]
    slurm: Mapping[str, Any]
    workers: Mapping[str, Any]
    """The `pool` section of a task."""
    submission: Submission
    """What sets up a worker."""
    goes_with_jobs: bool = False
    """Whether it is taken down once its jobs are over."""
    insists: bool = False
    """Whether clouds are asked for the machines of a worker until one has them."""

    @property
    def launch(self) -> Launch:
        """A worker as the cluster that it is."""
        return Launch(self.name, self.infra, self.nodes, self.resources, slurm=self.slurm)

    def size(self) -> Size:
        """Between which limits the number of workers changes; raises what is wrong."""
        data, path = dict(self.workers), ("pool",)
        problems = list(check(pool_section.SHAPE, data, path))
        problems = problems or list(pool_section.errors(data, path))
        if problems:
            raise InvalidError([str(error) for error in problems])
        lasts = {"goes_with_jobs": self.goes_with_jobs, "insists": self.insists}
        size = replace(size_of(self.workers), **lasts)
        if size.most > pool_section.MOST_WORKERS:
            raise InvalidError(
                [f"pool.workers: a worker pool has {pool_section.MOST_WORKERS} workers at most"]
            )
        if not size.most:
            raise InvalidError(["pool.workers: a worker pool needs at least one worker"])
        return size

    def digest(self, infra: str) -> str:
        """What tells two requests apart whose workers are not the same."""
        told = [infra, self.nodes, self.resources, self.slurm, _lasting(self.submission.objects)]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def checked_name(name: str) -> str:
    """The name, if a worker pool may be called so."""
    return check_name(name, "worker pool", _LONGEST_NAME)


def refuse_going(pool: WorkerPoolRecord) -> None:
    """Raise for a pool that is being taken down: it gets neither workers nor jobs any more."""
    if pool.is_going:
        hint = "when it is gone, trainway jobs pool apply FILE makes it again"
        raise ConflictError(f"the worker pool {pool.name} is being taken down", hint=hint)


def check_task(submission: Submission) -> None:
    """Raise for anything but one task that only sets a worker up."""
    task, _ = parted(submission.objects)
    if task is None or task.get("kind") != "Task":
        raise UsageError(
            "a worker pool is made from a task", hint="write a file with a pool section"
        )
    try:
        tasks = [each["task"] for each in task["spec"]["tasks"]]
    except (KeyError, TypeError):
        tasks = [None]
    if not all(isinstance(each, dict) for each in tasks):
        raise UsageError("the task has no spec.tasks", field="objects")
    if len(tasks) != 1:
        raise UsageError("a worker pool is made from one task", hint="write a file for each pool")
    if tasks[0].get("run"):
        raise InvalidError([pool_section.HAS_RUN])


def _lasting(objects: Any) -> Any:
    """The objects without who submits them and when."""
    return [{key: value for key, value in obj.items() if key != "origin"} for obj in objects]
