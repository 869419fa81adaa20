"""What a JobSet does when a Job has failed: its failurePolicy.

The first rule that matches a failed Job decides (`jobset_rules`); without one the JobSet restarts,
as often as maxRestarts allows.
"""

from __future__ import annotations

from trainway.agent.controllers.jobset_rules import first_failed, matching, with_job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from trainway.agent.controllers.job import Job
    from trainway.agent.controllers.jobset import JobSet
    from trainway.json_types import Json

FAIL = "FailJobSet"
RESTART = "RestartJobSet"


class Ruling:
    """What the policy says to a failure."""

    def __init__(self, action: str, reason: str, message: str, job: Any, *, counts: bool) -> None:
        self.action = action
        """`FailJobSet`, or what restarts."""
        self.reason = reason
        self.message = message
        self.job = job
        """The Job that is to blame."""
        self.counts = counts
        """Whether the restart counts towards the most that there may be."""

    @property
    def fails(self) -> bool:
        """Whether the JobSet has failed for good."""
        return self.action == FAIL


def ruling(policy: Json | None, failed: Sequence[Any], restarts: int) -> Ruling:
    """What becomes of a JobSet with failed Jobs, at least one, after so many restarts that count.

    The Kubernetes backend asks here too, where a cluster has no JobSet.
    """
    if policy is None:
        job = first_failed(failed)
        message = with_job("jobset failed due to one or more job failures", job)
        return Ruling(FAIL, "FailedJobs", message, job, counts=False)
    rule, job = matching(policy.get("rules") or [], failed)
    action = str(rule.get("action") or RESTART) if rule else RESTART
    if action == FAIL:
        message = with_job("applying FailJobSet failure policy action", job)
        return Ruling(FAIL, "FailJobSetFailurePolicyAction", message, job, counts=False)
    counts = not action.endswith("AndIgnoreMaxRestarts")
    if counts and restarts >= (policy.get("maxRestarts") or 0):
        message = with_job("jobset failed due to reaching max number of restarts", job)
        return Ruling(FAIL, "ReachedMaxRestarts", message, job, counts=False)
    reason = f"FailurePolicy_{rule.get('name', '')}" if rule else "DefaultFailurePolicy"
    message = with_job(f"applying {action} failure policy action", job)
    return Ruling(action, reason, message, job, counts=counts)


def handle_failure(jobset: JobSet, failed: list[Job], now: float) -> None:
    """Fail or restart, by the policy. `failed` has at least one Job."""
    found = ruling(jobset.failure_policy, failed, _total_restarts(jobset))
    if found.fails:
        jobset.end("Failed", found.reason, found.message, now)
        return
    if found.action.startswith(RESTART):
        jobset.begin_anew(now)
        jobset.restarts_count_towards_max += found.counts
        jobset.set("RestartingJobSet", True, found.reason, found.message, now)
    else:
        _restart_job(jobset, found.job, counts=found.counts)
    jobset.events.append(("Warning", f"{found.action}FailurePolicyAction", found.message))


def restart_regardless(jobset: JobSet, reason: str, message: str, now: float) -> None:
    """Restart for a cause outside the job, as RestartJobSetAndIgnoreMaxRestarts does."""
    jobset.begin_anew(now)
    jobset.set("RestartingJobSet", True, reason, message, now)


def _restart_job(jobset: JobSet, job: Job, *, counts: bool) -> None:
    replicas = next(role.replicas for role in jobset.roles if role.name == job.role)
    jobset.job_restarts.setdefault(job.role, [0] * replicas)[job.index] += 1
    if counts:
        counting = jobset.job_restarts_count_towards_max.setdefault(job.role, [0] * replicas)
        counting[job.index] += 1


def _total_restarts(jobset: JobSet) -> int:
    single = sum(sum(counts) for counts in jobset.job_restarts_count_towards_max.values())
    return jobset.restarts_count_towards_max + single
