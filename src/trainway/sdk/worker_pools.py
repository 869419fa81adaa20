"""Worker pools, for a program: the task of a pool is read here, and sent with what sets it up."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from trainway.errors import InvalidError, NotFoundError, UsageError
from trainway.families.builtin import HERE, WORKERS
from trainway.json_types import Json
from trainway.sdk.cluster_tasks import ClusterTask, TaskWishes, of_document
from trainway.sdk.rest import Submission
from trainway.sdk.submitter import job_options
from trainway.sdk.targets import read_manifest
from trainway.sdk.worker_pool_rest import WorkerPoolRest

_STEP_S: Final = 0.1
_NO_SECTION: Final = "pool: it is missing; write pool: {workers: 2}, or use --workers 2"


@dataclass(frozen=True)
class PoolTask:
    """A task with a `pool` section."""

    name: str
    workers: Json
    """The `pool` section."""
    setup: ClusterTask
    """The rest of it."""


def place_of_pool(name: str) -> str:
    """The place of jobs that run on the workers of a pool."""
    if "/" in name or not name.strip():
        raise UsageError(f"{name!r} is not the name of a worker pool")
    return f"{WORKERS}/{name}"


def pool_task(
    target: str | Path | Mapping[str, Any], wishes: TaskWishes, workers: int | None = None
) -> PoolTask:
    """The one task of a file, or as it is; `workers` replaces what its `pool` section says."""
    from trainway.api.task.pool import HAS_RUN  # noqa: PLC0415 - slow
    from trainway.api.task.task_file import parse, parse_documents  # noqa: PLC0415 - as above
    from trainway.api.task.variables import Overrides  # noqa: PLC0415 - as above
    from trainway.sdk.tasks import name_of, sound  # noqa: PLC0415 - as above

    overrides = Overrides(wishes.env, wishes.secrets)
    if isinstance(target, Mapping):
        source, parsed = "<task>", parse_documents([dict(target)], overrides)
    else:
        source, parsed = str(target), parse(read_manifest(Path(target)), overrides)
    file = sound(parsed)
    if len(file.tasks) != 1:
        raise UsageError(
            f"there are {len(file.tasks)} tasks in it, and a worker pool is made from one",
            hint="write a file for each pool",
        )
    document = dict(file.tasks[0].to_dict())
    section = document.pop("pool", None)
    if section is None and workers is None:
        raise InvalidError([_NO_SECTION])
    if document.get("run"):
        raise InvalidError([HAS_RUN])
    name = wishes.name or name_of(file, source)
    given = {"workers": workers} if workers is not None else dict(section or {})
    return PoolTask(name, given, of_document(document, wishes))


def apply(rest: WorkerPoolRest, task: PoolTask, infra: str = "") -> Json:
    """Make a worker pool, or change it; the pool as it is then."""
    setup = task.setup
    wanted: Json = {
        "infra": infra,
        "nodes": setup.nodes,
        "resources": setup.resources,
        "slurm": setup.slurm(infra),
    }
    where = str(rest.launch({**wanted, "dry_run": True})["spec"]["infra"])
    is_local = where == HERE
    objects = setup.objects(task.name, travels=not is_local)
    options = job_options(
        rest.address, prefer_our_python=False, backend=None if is_local else where
    )
    named = {**wanted, "infra": where, "name": task.name, "workers": task.workers}
    return rest.apply_worker_pool(Submission(objects, options), named)


def pool_record(pool: Json) -> Json:
    """A worker pool as a record of SkyPilot, as far as there are such fields here."""
    metadata, spec, status = pool["metadata"], pool["spec"], pool["status"]
    return {
        "name": metadata["name"],
        "version": spec["version"],
        "status": status["phase"],
        "uptime": int(moment_of(metadata["creationTimestamp"])),
        "pool": True,
        "requested_resources_str": json.dumps(spec["resources"]),
        "target_num_replicas": spec["minWorkers"],
        "replica_info": [
            {
                "replica_id": worker["id"],
                "name": worker["name"],
                "status": worker["phase"],
                "version": worker["version"],
                "launched_at": int(moment_of(worker["launched"])),
                "used_by": worker["usedBy"],
                "is_spot": False,
            }
            for worker in status["workers"]
        ],
    }


def setup_job_of(pool: Json, number: int | None = None) -> str:
    """The id of the job that sets up a worker; without a number, of the newest that has one."""
    name = pool["metadata"]["name"]
    workers = {int(each["id"]): each for each in pool["status"]["workers"]}
    if number is not None and number not in workers:
        known = ", ".join(map(str, sorted(workers))) or "none"
        raise NotFoundError(
            f"the worker pool {name} has no worker {number}", hint=f"its workers: {known}"
        )
    wanted = sorted(workers) if number is None else [number]
    jobs = [str(workers[each]["setupJob"]) for each in wanted if workers[each]["setupJob"]]
    if not jobs:
        which = "its workers" if number is None else f"worker {number}"
        raise NotFoundError(
            f"there are no logs of {which}: no setup has run",
            hint="trainway jobs logs NAME shows what a job wrote",
        )
    return jobs[-1]


def moment_of(time_text: str) -> float:
    """A time as SkyPilot's records have it: seconds since the epoch."""
    return datetime.fromisoformat(time_text).timestamp()


def take_down(rest: WorkerPoolRest, name: str, *, cancel_jobs: bool = False) -> None:
    """Take a worker pool down, and wait until it holds nothing any more."""
    rest.take_down_worker_pool(name, cancel_jobs=cancel_jobs)
    while True:
        try:
            rest.worker_pool(name)
        except NotFoundError:
            return
        time.sleep(_STEP_S)
