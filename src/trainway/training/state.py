"""How an MPIJob or a TrainJob stands, in one word. Pure.

Conditions are many, and which of them counts depends on the others. People ask one question; the
words are those of the dashboard and of `trainway jobs list`, as far as they apply to a cluster.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from trainway.jobset.labels import KUEUE_QUEUE_NAME, SUSPENDED
from trainway.jobset.status import conditions_of, find_true
from trainway.json_types import Json


class State(StrEnum):
    """The states of a job."""

    CREATED = "Created"
    QUEUED = "Queued"
    SUSPENDED = "Suspended"
    STARTING = "Starting"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TERMINATING = "Terminating"


ENDED: Final = frozenset({State.SUCCEEDED, State.FAILED})
_SUCCESS: Final = ("Succeeded", "Complete")
"""What the two kinds call it."""


@dataclass(frozen=True)
class JobStatus:
    """How a job stands."""

    name: str
    namespace: str
    state: State
    reason: str = ""
    message: str = ""
    workers: int = 0
    """How many there are to be."""
    active: int = 0
    """How many of them run."""
    started: str = ""
    ended: str = ""
    """Times as Kubernetes writes them; empty: not yet."""

    @property
    def is_over(self) -> bool:
        """Whether it has succeeded or failed."""
        return self.state in ENDED


def queue_of(job: Json) -> str:
    """The LocalQueue that a job names; empty: none."""
    return str((job["metadata"].get("labels") or {}).get(KUEUE_QUEUE_NAME) or "")


def status_of(job: Json) -> JobStatus:
    """How a job of a cluster stands."""
    conditions, status = conditions_of(job), job.get("status") or {}
    succeeded = next(filter(None, (find_true(conditions, each) for each in _SUCCESS)), None)
    failed = find_true(conditions, "Failed")
    told = succeeded or failed or {}
    ended = str(told.get("lastTransitionTime") or "") if told else ""
    metadata = job["metadata"]
    workers, active = _workers(job)
    return JobStatus(
        name=str(metadata.get("name") or metadata.get("generateName") or ""),
        namespace=str(metadata.get("namespace") or ""),
        state=_state(job, is_succeeded=succeeded is not None, is_failed=failed is not None),
        reason=str(told.get("reason") or ""),
        message=str(told.get("message") or ""),
        workers=workers,
        active=active,
        started=str(status.get("startTime") or ""),
        ended=str(status.get("completionTime") or ended),
    )


def _state(job: Json, *, is_succeeded: bool, is_failed: bool) -> State:
    if "deletionTimestamp" in job["metadata"]:
        return State.TERMINATING
    if is_succeeded:
        return State.SUCCEEDED
    if is_failed:
        return State.FAILED
    if is_suspended(job):
        return State.QUEUED if queue_of(job) and not is_withheld(job) else State.SUSPENDED
    if find_true(conditions_of(job), "Running") is not None:
        return State.RUNNING
    jobs: list[Any] = (job.get("status") or {}).get("jobsStatus") or []
    if any(each.get("ready") for each in jobs):
        return State.RUNNING
    has_begun = conditions_of(job) or jobs
    return State.STARTING if has_begun else State.CREATED


def is_suspended(job: Json) -> bool:
    """Whether a job is held back, by whomever."""
    spec = job.get("spec") or {}
    policy = spec.get("runPolicy") or {}
    return bool(policy.get("suspend") if job.get("kind") == "MPIJob" else spec.get("suspend"))


def is_withheld(job: Json) -> bool:
    """Whether the owner of a job in a queue has suspended it."""
    return (job["metadata"].get("annotations") or {}).get(SUSPENDED) == "true"


def withholding(withheld: bool) -> Json:
    """The merge patch that says so of a job, or that it waits again."""
    return {"metadata": {"annotations": {SUSPENDED: "true" if withheld else None}}}


def _workers(job: Json) -> tuple[int, int]:
    """How many workers there are to be, and how many run."""
    spec, status = job.get("spec") or {}, job.get("status") or {}
    if job.get("kind") == "MPIJob":
        wanted = (spec.get("mpiReplicaSpecs") or {}).get("Worker") or {}
        running = (status.get("replicaStatuses") or {}).get("Worker") or {}
        return int(wanted.get("replicas") or 0), int(running.get("active") or 0)
    wanted = (spec.get("trainer") or {}).get("numNodes") or 1
    jobs = status.get("jobsStatus") or []
    return int(wanted), int(wanted) if any(each.get("ready") for each in jobs) else 0
