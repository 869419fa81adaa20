"""Jobs as SkyPilot's users know them: managed jobs with a record, a status, and a way to name them.

`trainway jobs queue` and the calls of `trainway.sdk.sky` show the same records.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from enum import Enum
from typing import Final

from trainway.errors import ConflictError, NotFoundError, TrainwayError, UsageError
from trainway.families.builtin import HELD
from trainway.jobset.labels import USER, WORKER_POOL
from trainway.json_types import Json
from trainway.sdk.rest import Rest, is_terminal
from trainway.sdk.submitter import user_label
from trainway.sdk.transport import StreamControl

_PAGE: Final = 1000
_GB: Final = 2**30
_HINT: Final = "trainway jobs queue shows the jobs"


class ManagedJobStatus(Enum):
    """How a managed job stands, in SkyPilot's words; some of them no job of ours can have."""

    PENDING = "PENDING"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    RECOVERING = "RECOVERING"
    CANCELLING = "CANCELLING"
    SUCCEEDED = "SUCCEEDED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"
    FAILED_SETUP = "FAILED_SETUP"
    FAILED_PRECHECKS = "FAILED_PRECHECKS"
    FAILED_NO_RESOURCE = "FAILED_NO_RESOURCE"
    FAILED_CONTROLLER = "FAILED_CONTROLLER"

    def is_failed(self) -> bool:
        """Whether it ended, and not well."""
        return self.value.startswith("FAILED")

    def is_terminal(self) -> bool:
        """Whether it has ended."""
        return self.is_failed() or self in (type(self).SUCCEEDED, type(self).CANCELLED)


STATUSES: Final = {
    "Pending": ManagedJobStatus.PENDING,
    "Queued": ManagedJobStatus.PENDING,
    "Inadmissible": ManagedJobStatus.PENDING,
    "Paused": ManagedJobStatus.PENDING,
    "Starting": ManagedJobStatus.STARTING,
    "Running": ManagedJobStatus.RUNNING,
    "Restarting": ManagedJobStatus.RECOVERING,
    "Stopping": ManagedJobStatus.CANCELLING,
    "Succeeded": ManagedJobStatus.SUCCEEDED,
    "Failed": ManagedJobStatus.FAILED,
    "Cancelled": ManagedJobStatus.CANCELLED,
}
"""The status of a job by its phase."""


def record(job: Json, now: datetime) -> Json:
    """A job under the names that `sky.jobs.queue` gives; moments are seconds since 1970."""
    metadata, spec, status = job["metadata"], job["spec"], job["status"]
    started, ended = _seconds(status.get("startTime")), _seconds(status.get("completionTime"))
    until = ended if ended is not None else now.timestamp()
    cloud, region, zone = [*str(spec.get("backend") or "").split("/", 2), "", ""][:3]
    requested = requested_text(spec.get("requests") or {})
    has_failed = STATUSES[status["phase"]].is_failed()
    return {
        "job_id": metadata["id"],
        "task_id": 0,
        "job_name": metadata["name"],
        "task_name": metadata["name"],
        "resources": requested,
        "submitted_at": _seconds(metadata["creationTimestamp"]),
        "start_at": started,
        "end_at": ended,
        "job_duration": 0.0 if started is None else max(0.0, until - started),
        "recovery_count": int(status.get("restarts") or 0),
        "status": STATUSES[status["phase"]],
        "cluster_resources": requested if started is not None else "-",
        "infra": spec.get("backend") or "",
        "cloud": cloud or None,
        "region": region or None,
        "zone": zone or None,
        "priority": spec.get("priority") or 0,
        "user_name": (metadata.get("labels") or {}).get(USER) or "",
        "failure_reason": _why(status) if has_failed else None,
        "pool": (metadata.get("labels") or {}).get(WORKER_POOL),
        "current_cluster_name": status.get("worker"),
    }


def requested_text(requests: Json) -> str:
    """What a job requests in all: `CPU:4, GPU:8, mem:16GB`; `-` where that is nothing."""
    memory = (requests.get("memory") or 0) / _GB
    parts = {
        "CPU": f"{requests.get('cpus') or 0:g}",
        "GPU": f"{requests.get('gpus') or 0:g}",
        "mem": f"{memory:.4g}",
    }
    shown = [f"{name}:{text}" for name, text in parts.items() if text != "0"]
    return f"{', '.join(shown)}{'GB' if memory else ''}" or "-"


def whose(*, all_users: bool) -> list[str]:
    """The label by which the jobs of who asks are told from those of others; none for all jobs."""
    if all_users:
        return []
    return [f"{key}={value}" for key, value in user_label(os.environ).items()]


def active_jobs(rest: Rest, *, name: str | None = None, all_users: bool = True) -> list[Json]:
    """The jobs that have not ended, newest first: all of them, or those of a name."""
    return list(_pages(rest, name, whose(all_users=all_users)))


def named(job_ids: str | Sequence[str | int]) -> list[str]:
    """The ids that were given; in SkyPilot they are numbers, which name no job here. Pure."""
    return [job_ids] if isinstance(job_ids, str) else [str(each) for each in job_ids]


def to_cancel(
    rest: Rest,
    job_ids: Sequence[str],
    name: str | None,
    *,
    every: bool = False,
    all_users: bool = False,
    pool: str | None = None,
) -> list[Json]:
    """The jobs that are meant; exactly one way of naming them must be used.

    All are looked up before anything is done, so that a wrong name changes nothing. A setup of a
    worker is none of them unless it is named: without it, its pool would fail.
    """
    ways = [bool(job_ids), name is not None, pool is not None, every or all_users]
    if sum(ways) != 1:
        raise UsageError(
            "name the jobs in one way" if any(ways) else "no jobs are named",
            hint="give their ids, or --name NAME, or --pool NAME, or --all",
        )
    if pool is not None:
        return _submitted(_pages(rest, None, [f"{WORKER_POOL}={pool}"]))
    if name is not None:
        return [the_active(rest, name)]
    if job_ids:
        return [rest.get(ref) for ref in job_ids]
    return _submitted(active_jobs(rest, all_users=all_users))


def _submitted(jobs: Iterable[Json]) -> list[Json]:
    """Those that somebody submitted: no setups of workers, which run on the cluster of one."""
    return [
        job
        for job in jobs
        if WORKER_POOL not in (job["metadata"].get("labels") or {})
        or not str(job["spec"].get("backend") or "").startswith(f"{HELD}/")
    ]


def end_all(
    rest: Rest, jobs: Sequence[Json], tell: Callable[[Json], object], warn: Callable[[str], object]
) -> None:
    """Ask for the end of all of them, and then tell of each when it is over.

    One that has ended meanwhile stops no other; the last error is raised in the end. The newest is
    asked first: a task of a pipeline would end by itself with one that it waits for.
    """
    ids = list(dict.fromkeys(str(job["metadata"]["id"]) for job in jobs))
    asked: dict[str, Json] = {}
    errors: dict[str, TrainwayError] = {}
    for id_ in sorted(ids, reverse=True):
        try:
            asked[id_] = rest.act(id_, "cancel")
        except (ConflictError, NotFoundError) as error:
            errors[id_] = error
    for id_ in ids:
        if id_ in asked:
            tell(_ended(rest, asked[id_]))
    raised = [errors[id_] for id_ in ids if id_ in errors]
    for each in raised[:-1]:
        warn(each.message)
    if raised:
        raise raised[-1]


def _ended(rest: Rest, job: Json) -> Json:
    if not is_terminal(job):
        for seen in rest.watch(job["metadata"]["id"], StreamControl()):
            job = seen
    return job


def the_active(rest: Rest, name: str) -> Json:
    """The one job of that name that has not ended; several are not one."""
    found = active_jobs(rest, name=name)
    if not found:
        raise NotFoundError(f"no job called {name!r} waits or runs", hint=_HINT)
    if len(found) > 1:
        ids = ", ".join(str(job["metadata"]["id"]) for job in found)
        raise UsageError(f"{len(found)} jobs called {name!r} wait or run: {ids}", hint="give an id")
    return found[0]


def the_job(rest: Rest, job_id: str | int | None, name: str | None) -> Json:
    """The job of an id, the newest of a name, or the newest there is."""
    if job_id is not None and name is not None:
        raise UsageError("give the id or the name of a job, and not both")
    if job_id is not None:
        return rest.get(str(job_id))
    found, _ = rest.page(limit=1, name=name, summary=True)
    if not found:
        what = "there are no jobs" if name is None else f"no job is called {name!r}"
        raise NotFoundError(what, hint=None if name is None else _HINT)
    return found[0]


def _pages(rest: Rest, name: str | None, labels: Sequence[str]) -> Iterator[Json]:
    cursor: str | None = None
    while True:
        items, cursor = rest.page(
            limit=_PAGE, cursor=cursor, name=name, active=True, summary=True, labels=labels
        )
        yield from items
        if not cursor:
            return


def _seconds(text: str | None) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None


def _why(status: Json) -> str:
    failure = (status.get("failure") or {}).get("summary")
    said = [str(status[key]) for key in ("reason", "message") if status.get(key)]
    return str(failure or ": ".join(said))
