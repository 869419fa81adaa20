"""The status of an MPIJob, derived from its JobSet and from the pods of its two roles.

The MPIJob ends as its JobSet does, and a failure has the reason that the launcher's Job gives. The
JobSet tells neither that reason nor how many pods run, so `PodFacts` brings them. Conditions never
go; each one that changes is worth one event.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trainway.jobset.status import (
    conditions_of,
    find_condition,
    find_true,
    timestamp,
    with_transition,
)
from trainway.json_types import Json

_MAX_MESSAGE = 1024


@dataclass(frozen=True, slots=True)
class MPIJobFacts:
    """What of an MPIJob itself its status depends on."""

    namespace: str
    name: str
    workers: int = 0
    suspend: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a Job or a pod failed."""

    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class PodFacts:
    """What the Jobs and pods of the two roles look like now."""

    launcher_exists: bool = False
    """Whether there is a Job for the launcher."""
    launcher_running: int = 0
    launcher_failed: int = 0
    launcher_completion_time: str = ""
    launcher_failure: Failure | None = None
    """The Failed condition of the launcher's Job."""
    last_failed_launcher_pod: Failure | None = None
    workers_running: int = 0
    workers_succeeded: int = 0
    workers_failed: int = 0
    workers_evicted: int = 0
    """How many of the workers that failed were evicted."""
    ran_together: bool = False
    """Whether launcher and workers all ran at some moment, be it past when somebody looks."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something a user may want to know of."""

    type: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class MPIJobOutcome:
    """The status to write and the events to record."""

    status: Json
    events: tuple[Event, ...] = ()


def mpijob_status(
    job: MPIJobFacts,
    previous: Mapping[str, Any],
    jobset: Mapping[str, Any] | None,
    pods: PodFacts,
    now: datetime,
) -> MPIJobOutcome:
    """The status that follows from the previous one, the JobSet (None: it is gone) and the pods."""
    derivation = _Derivation(job, previous, now)
    if not (is_finished(derivation.conditions) and derivation.status.get("completionTime")):
        derivation.start()
        derivation.suspend_or_resume()
        derivation.ran(pods)
        derivation.end(jobset, pods)
        derivation.launcher(pods)
        derivation.workers(pods)
        derivation.running(pods)
    elif "replicaStatuses" in derivation.status:
        derivation.status["replicaStatuses"]["Worker"] = {}
    return derivation.outcome()


def set_condition(conditions: list[Json], condition: Json, now: datetime) -> list[Json]:
    """The conditions with this one at the end, or as they are if it says nothing new.

    Nothing new: the same status for the same reason, whatever the message. The time of the last
    transition is kept while the status stays the same. With Succeeded or Failed a job no longer
    runs, and Running says so with the reason and times it had.
    """
    former = find_condition(conditions, condition["type"])
    if former is not None and all(former.get(k) == condition[k] for k in ("status", "reason")):
        return conditions
    changed = with_transition({**condition, "lastUpdateTime": timestamp(now)}, former, now)
    over = ("Running", "Failed") if condition["type"] in ("Succeeded", "Failed") else ()
    kept = [
        {**item, "status": "False"} if item["type"] in over else item
        for item in conditions
        if item is not former
    ]
    return [*kept, changed]


def is_finished(conditions: list[Json]) -> bool:
    """Whether the MPIJob has ended, well or badly."""
    return any(find_true(conditions, type_) for type_ in ("Succeeded", "Failed"))


class _Derivation:
    """One status in the making."""

    def __init__(self, job: MPIJobFacts, previous: Mapping[str, Any], now: datetime) -> None:
        self.job = job
        self.now = now
        self.status = copy.deepcopy(dict(previous))
        self.conditions: list[Json] = self.status.pop("conditions", None) or []
        self.events: list[Event] = []
        self.title = f"MPIJob {job.namespace}/{job.name}"
        if not self.conditions:
            self._set("Created", "True", "MPIJobCreated", f"{self.title} is created.", "Normal")

    def outcome(self) -> MPIJobOutcome:
        status = {"conditions": self.conditions, **self.status}
        return MPIJobOutcome(status, tuple(self.events))

    def start(self) -> None:
        if not self.job.suspend:
            self.status.setdefault("startTime", timestamp(self.now))

    def suspend_or_resume(self) -> None:
        if self.job.suspend:
            self._set("Suspended", "True", "MPIJobSuspended", "MPIJob suspended", "Normal")
        elif find_condition(self.conditions, "Suspended") and self._set(
            "Suspended", "False", "MPIJobResumed", "MPIJob resumed", "Normal"
        ):
            self.status["startTime"] = timestamp(self.now)

    def ran(self, pods: PodFacts) -> None:
        if pods.ran_together and not self.job.suspend:
            self._set_running()

    def end(self, jobset: Mapping[str, Any] | None, pods: PodFacts) -> None:
        if completed := find_true(conditions_of(jobset), "Completed"):
            message = f"{self.title} successfully completed."
            ended = pods.launcher_completion_time or completed.get("lastTransitionTime")
            self._end("Succeeded", "MPIJobSucceeded", message, ended)
        elif failed := find_true(conditions_of(jobset), "Failed"):
            reason, message = self._why_failed(failed, pods)
            self._end("Failed", reason, message)

    def launcher(self, pods: PodFacts) -> None:
        if pods.launcher_exists:
            finished = is_finished(self.conditions)
            counts = {
                "active": 0 if finished else pods.launcher_running,
                "succeeded": 1 if find_true(self.conditions, "Succeeded") else 0,
                "failed": pods.launcher_failed,
            }
            self._count("Launcher", counts)

    def workers(self, pods: PodFacts) -> None:
        if is_finished(self.conditions):
            self._count("Worker", {})
            return
        known = (self.status.get("replicaStatuses") or {}).get("Worker") or {}
        counts = {
            "active": pods.workers_running,
            "succeeded": pods.workers_succeeded,
            "failed": pods.workers_failed,
        }
        self._count("Worker", counts)
        if pods.workers_evicted and pods.workers_failed > known.get("failed", 0):
            message = f"{pods.workers_evicted}/{self.job.workers} workers are evicted"
            self.events.append(Event("Warning", "MPIJobEvicted", f"{message} and replaced"))

    def running(self, pods: PodFacts) -> None:
        if self.job.suspend:
            self._set("Running", "False", "MPIJobSuspended", f"{self.title} is suspended.")
        elif is_finished(self.conditions):
            self._add_missing_running()
        elif pods.launcher_running >= 1 and pods.workers_running == self.job.workers:
            self._set_running()

    def _set_running(self) -> None:
        self._set("Running", "True", "MPIJobRunning", f"{self.title} is running.", "Normal")

    def _add_missing_running(self) -> None:
        """Whoever computes how long the job took looks for Running, so it is always there."""
        if find_condition(self.conditions, "Running") is None:
            ended = self.status.get("completionTime") or timestamp(self.now)
            missing = {
                "type": "Running",
                "status": "False",
                "reason": "MPIJobRunning",
                "message": f"{self.title} is finished but Running condition was never set.",
                "lastUpdateTime": ended,
                "lastTransitionTime": ended,
            }
            self.conditions = [*self.conditions, missing]

    def _why_failed(self, failed: Json, pods: PodFacts) -> tuple[str, str]:
        failure = pods.launcher_failure or Failure()
        pod = pods.last_failed_launcher_pod
        reason = failure.reason or "MPIJobFailed"
        message = failure.message or failed.get("message") or f"{self.title} has failed"
        if failure.reason == "BackoffLimitExceeded" and pod is not None:
            reason = "/".join(filter(None, (reason, pod.reason)))
            message = ": ".join(filter(None, (message, pod.message)))
        return reason, message[:_MAX_MESSAGE]

    def _end(self, type_: str, reason: str, message: str, ended: str | None = None) -> None:
        self.status.setdefault("completionTime", ended or timestamp(self.now))
        event = "Normal" if type_ == "Succeeded" else "Warning"
        self._set(type_, "True", reason, message, event)

    def _count(self, role: str, counts: Mapping[str, int]) -> None:
        replicas = self.status.setdefault("replicaStatuses", {})
        replicas[role] = {name: count for name, count in counts.items() if count}

    def _set(self, type_: str, status: str, reason: str, message: str, event: str = "") -> bool:
        """Set a condition and record the event; False if there is nothing new."""
        condition = {"type": type_, "status": status, "reason": reason, "message": message}
        conditions = set_condition(self.conditions, condition, self.now)
        if conditions is self.conditions:
            return False
        self.conditions = conditions
        if event:
            self.events.append(Event(event, reason, message))
        return True
