"""The calls of `sky.jobs`, with their arguments and results."""

import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol, TextIO, runtime_checkable

from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.client import Client
from trainway.sdk.cluster_tasks import TaskWishes
from trainway.sdk.exit_codes import exit_code
from trainway.sdk.job import Job
from trainway.sdk.managed_jobs import (
    ManagedJobStatus,
    end_all,
    named,
    record,
    the_job,
    to_cancel,
    whose,
)
from trainway.sdk.rest import LogQuery, Rest
from trainway.sdk.run import Run
from trainway.sdk.sky.requests import RequestId
from trainway.sdk.worker_pool_rest import WorkerPoolRest
from trainway.sdk.worker_pools import (
    apply,
    place_of_pool,
    pool_record,
    pool_task,
    setup_job_of,
    take_down,
)

__all__ = [
    "ManagedJobStatus",
    "cancel",
    "dashboard",
    "download_logs",
    "launch",
    "pool_apply",
    "pool_down",
    "pool_status",
    "pool_sync_down_logs",
    "pool_tail_logs",
    "queue",
    "queue_v2",
    "tail_logs",
    "wait",
]

_PAGE: Final = 1000


@runtime_checkable
class SkyTask(Protocol):
    """What a `sky.Task` can do, as far as it is needed."""

    def to_yaml_config(self) -> dict[str, Any]:
        """The task as it would be written in a file."""


@runtime_checkable
class SkyDag(Protocol):
    """What a `sky.Dag` has, as far as it is needed."""

    tasks: list[Any]


TaskLike = str | Path | Mapping[str, Any] | SkyTask | SkyDag


def launch(
    task: TaskLike, name: str | None = None, pool: str | None = None, num_jobs: int | None = None
) -> RequestId[tuple[list[str], None]]:
    """Submit a task: a file, a dict, or a `sky.Task` or `sky.Dag`; `pool` is a worker pool.

    The result is the ids of the jobs, of a pipeline those of all its tasks, and None in place of
    the handle of a controller.
    """
    client, target = Client(), _target(task)
    on = None if pool is None else place_of_pool(pool)
    made: Job | Run | list[Job]
    if num_jobs is not None:
        made = client.run_array(target, num_jobs, name=name, on=on)
    else:
        made = client.run(target, name=name, on=on)  # a Run if it is a pipeline
    jobs = [made] if isinstance(made, Job) else made
    return RequestId(([job.id for job in jobs], None))


def queue(
    refresh: bool = False,  # noqa: ARG001 - SkyPilot's arguments, here and below
    skip_finished: bool = False,
    all_users: bool = False,
    job_ids: str | Sequence[str | int] | None = None,
) -> RequestId[list[Json]]:
    """Your jobs, newest first, or those of all users; `refresh` changes nothing."""
    rest, now = Rest.connect(), datetime.now(UTC)
    wanted = None if job_ids is None else set(named(job_ids))
    labels = whose(all_users=all_users)
    found: list[Json] = []
    cursor: str | None = None
    while True:
        items, cursor = rest.page(
            limit=_PAGE, cursor=cursor, active=skip_finished or None, summary=True, labels=labels
        )
        found += [job for job in items if wanted is None or job["metadata"]["id"] in wanted]
        if not cursor:
            return RequestId([record(job, now) for job in found])


def queue_v2(
    refresh: bool = False,
    skip_finished: bool = False,
    all_users: bool = False,
    job_ids: str | Sequence[str | int] | None = None,
    limit: int | None = None,
    fields: Sequence[str] | None = None,  # noqa: ARG001 - all are cheap
) -> RequestId[tuple[list[Json], int, dict[str, int], int]]:
    """The newest jobs, how many there are in all, how many in each status, and the total again."""
    found = queue(refresh, skip_finished, all_users, job_ids).result
    counts = Counter(str(each["status"].value) for each in found)
    return RequestId((found[:limit], len(found), dict(counts), len(found)))


def cancel(
    name: str | None = None,
    job_ids: str | Sequence[str | int] | None = None,
    all: bool = False,  # noqa: A002 - SkyPilot's name
    all_users: bool = False,
    pool: str | None = None,
    graceful: bool = False,  # noqa: ARG001 - processes always have their grace period
    graceful_timeout: int | None = None,  # noqa: ARG001 - that of the job
) -> RequestId[None]:
    """End jobs, and wait until nothing of them runs; one that has ended already stops no other."""
    rest = Rest.connect()
    ids = named(job_ids or ())
    jobs = to_cancel(rest, ids, name, every=all, all_users=all_users, pool=pool)
    end_all(rest, jobs, lambda _: None, warnings.warn)
    return RequestId(None)


def tail_logs(
    name: str | None = None,
    job_id: str | int | None = None,
    follow: bool = True,
    controller: bool = False,
    refresh: bool = False,  # noqa: ARG001
    tail: int | None = None,
    output_stream: TextIO | None = None,
) -> int | None:
    """Print the log of a job, or of the newest one, and give the number that says how it ended.

    0: it succeeded, 100: it failed, 103: it was cancelled; None where it was not followed.
    """
    _refuse_controller(controller)
    rest = Rest.connect()
    id_ = str(the_job(rest, job_id, name)["metadata"]["id"])
    _print(rest, id_, output_stream or sys.stdout, tail=tail, follow=follow)
    return exit_code(rest.get(id_)) if follow else None


def download_logs(
    name: str | None = None,
    job_id: str | int | None = None,
    refresh: bool = False,  # noqa: ARG001
    controller: bool = False,
    local_dir: str = "~/sky_logs",
) -> dict[str, str]:
    """Write the log of a job, or of the newest one, to `LOCAL_DIR/ID/run.log`; the folder by id."""
    _refuse_controller(controller)
    rest = Rest.connect()
    id_ = str(the_job(rest, job_id, name)["metadata"]["id"])
    folder = Path(local_dir).expanduser() / id_
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "run.log").open("w", encoding="utf-8") as file:
        _print(rest, id_, file, tail=None, follow=False)
    return {id_: str(folder)}


def dashboard() -> None:
    """Refer to the command: only that may log a browser in."""
    raise UsageError("a program cannot open the dashboard", hint="run trainway dashboard")


def _refuse_controller(is_asked: bool) -> None:
    if is_asked:
        raise UsageError(
            "there is no controller: the server looks after all jobs itself",
            hint="Client().job(ID).events() tells what it did",
        )


def _print(rest: Rest, id_: str, stream: TextIO, *, tail: int | None, follow: bool) -> None:
    for line in rest.logs(id_, LogQuery(tail=tail or None, all_attempts=True, follow=follow)):
        stream.write(f"({line.node}) {line.text}\n")


def wait(
    name: str | None = None,
    job_id: str | int | None = None,
    timeout: float | None = None,
    poll_interval: int = 15,  # noqa: ARG001 - the end is told, and nobody has to ask for it
) -> RequestId[int]:
    """Wait until a job has ended; the result is that of `tail_logs`."""
    rest = Rest.connect()
    job = Job(rest, the_job(rest, job_id, name))
    job.wait(timeout)
    return RequestId(exit_code(job.to_dict()))


def pool_apply(
    task: TaskLike | None,
    pool_name: str,
    mode: Any = None,  # noqa: ARG001 - workers are always replaced one after the other
    workers: int | None = None,
) -> RequestId[None]:
    """Make a worker pool from a task, or change it; without a task only its number of workers."""
    rest = WorkerPoolRest.connect()
    if task is None:
        if workers is None:
            raise UsageError("there is neither a task nor a number of workers")
        rest.resize_worker_pool(pool_name, workers)
        return RequestId(None)
    target = _target(task)
    if isinstance(target, list):
        if len(target) != 1:
            raise UsageError("a worker pool is made from one task")
        target = target[0]
    apply(rest, pool_task(target, TaskWishes(name=pool_name), workers))
    return RequestId(None)


def pool_status(pool_names: str | Sequence[str] | None = None) -> RequestId[list[Json]]:
    """Worker pools with their workers, as SkyPilot's records have them."""
    rest = WorkerPoolRest.connect()
    names = [pool_names] if isinstance(pool_names, str) else pool_names
    found = rest.worker_pools() if names is None else [rest.worker_pool(each) for each in names]
    return RequestId([pool_record(each) for each in found])


def pool_tail_logs(
    pool_name: str,
    target: Any = None,
    worker_id: int | None = None,
    follow: bool = True,
    output_stream: TextIO | None = None,
    tail: int | None = None,
) -> None:
    """Print what the setup of a worker wrote; without a number, of the newest that has one."""
    _refuse_controller("controller" in str(target or "").lower())
    rest = WorkerPoolRest.connect()
    id_ = setup_job_of(rest.worker_pool(pool_name), worker_id)
    _print(rest, id_, output_stream or sys.stdout, tail=tail, follow=follow)


def pool_sync_down_logs(
    pool_name: str,
    local_dir: str = "~/sky_logs",
    *,
    targets: Any = None,
    worker_ids: Sequence[int] | None = None,
    tail: int | None = None,
) -> None:
    """Write what the setups of workers wrote to `LOCAL_DIR/POOL/worker-N.log`; usually of all."""
    _refuse_controller("controller" in str(targets or "").lower())
    rest = WorkerPoolRest.connect()
    pool = rest.worker_pool(pool_name)
    numbers = [int(each["id"]) for each in pool["status"]["workers"] if each["setupJob"]]
    jobs = {number: setup_job_of(pool, number) for number in worker_ids or numbers}
    folder = Path(local_dir).expanduser() / pool_name
    folder.mkdir(parents=True, exist_ok=True)
    for number, id_ in jobs.items():
        with (folder / f"worker-{number}.log").open("w", encoding="utf-8") as file:
            _print(rest, id_, file, tail=tail, follow=False)


def pool_down(
    pool_names: str | Sequence[str] | None = None,
    all: bool = False,  # noqa: A002 - SkyPilot's name
    purge: bool = False,
) -> RequestId[None]:
    """Take worker pools down, and wait until they are; `purge` cancels their jobs, too."""
    rest = WorkerPoolRest.connect()
    names = [pool_names] if isinstance(pool_names, str) else list(pool_names or ())
    if bool(names) == all:
        raise UsageError("name worker pools, or give all=True")
    for name in [str(each["metadata"]["name"]) for each in rest.worker_pools()] if all else names:
        take_down(rest, name, cancel_jobs=purge)
    return RequestId(None)


def _target(task: TaskLike) -> str | Path | Mapping[str, Any] | list[Json]:
    """What `Client.run` takes."""
    if isinstance(task, str | Path | Mapping):
        return task
    if isinstance(task, SkyTask):
        return task.to_yaml_config()
    if isinstance(task, SkyDag):
        documents = [each.to_yaml_config() for each in task.tasks]
        title = getattr(task, "name", None)
        return [{"name": title}, *documents] if title and len(documents) > 1 else documents
    raise UsageError(f"{task!r} is not a task", hint="give a file, a dict or a sky.Task")
