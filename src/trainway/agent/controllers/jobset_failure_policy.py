"""What a JobSet does when a Job has failed: its failurePolicy.

The first rule that matches a failed Job decides; without one the JobSet restarts, as often as
maxRestarts allows. Message patterns are regular expressions of Go's dialect; what Python's reads
alike works, and a pattern that Python cannot read never matches, as a broken one does in a cluster.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.controllers.job import Job
    from trainway.agent.controllers.jobset import JobSet
    from trainway.json_types import Json


def handle_failure(jobset: JobSet, failed: list[Job], now: float) -> None:
    """Fail or restart, by the policy. `failed` has at least one Job."""
    policy = jobset.failure_policy
    if policy is None:
        message = _with_job("jobset failed due to one or more job failures", _first(failed))
        jobset.end("Failed", "FailedJobs", message, now)
        return
    rule, job = _matching(policy.get("rules") or [], failed)
    action = str(rule.get("action") or "RestartJobSet") if rule else "RestartJobSet"
    if action == "FailJobSet":
        message = _with_job("applying FailJobSet failure policy action", job)
        jobset.end("Failed", "FailJobSetFailurePolicyAction", message, now)
        return
    counts = not action.endswith("AndIgnoreMaxRestarts")
    if counts and _total_restarts(jobset) >= (policy.get("maxRestarts") or 0):
        message = _with_job("jobset failed due to reaching max number of restarts", job)
        jobset.end("Failed", "ReachedMaxRestarts", message, now)
        return
    message = _with_job(f"applying {action} failure policy action", job)
    if action.startswith("RestartJobSet"):
        jobset.restarts += 1
        jobset.restarts_count_towards_max += counts
        reason = f"FailurePolicy_{rule.get('name', '')}" if rule else "DefaultFailurePolicy"
        jobset.set("RestartingJobSet", True, reason, message, now)
    else:
        _restart_job(jobset, job, counts=counts)
    jobset.events.append(("Warning", f"{action}FailurePolicyAction", message))


def restart_regardless(jobset: JobSet, reason: str, message: str, now: float) -> None:
    """Restart for a cause outside the job, as RestartJobSetAndIgnoreMaxRestarts does."""
    jobset.restarts += 1
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


def _matching(rules: list[Json], failed: list[Job]) -> tuple[Json, Job]:
    """The first rule that matches a Job, with the earliest such Job; or no rule."""
    for rule in rules:
        jobs = [job for job in failed if _applies(rule, job)]
        if jobs:
            return rule, _first(jobs)
    return {}, _first(failed)


def _applies(rule: Json, job: Job) -> bool:
    reasons = rule.get("onJobFailureReasons") or []
    patterns = rule.get("onJobFailureMessagePatterns") or []
    targets = rule.get("targetReplicatedJobs") or []
    failure = job.failure
    return (
        (not reasons or failure.get("reason") in reasons)
        and (not patterns or any(_found(p, str(failure.get("message", ""))) for p in patterns))
        and (not targets or job.role in targets)
    )


def _found(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def _first(failed: list[Job]) -> Job:
    return min(failed, key=lambda job: str(job.failure.get("lastTransitionTime", "")))


def _with_job(message: str, job: Job) -> str:
    return f"{message} (first failed job: {job.name})"
