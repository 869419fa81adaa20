"""What a JobSet does when a Job has failed: its failurePolicy.

The first rule that matches a failed Job decides (`jobset_rules`); without one the JobSet restarts,
as often as maxRestarts allows.
"""

from __future__ import annotations

from trainway.agent.controllers.jobset_rules import first_failed, matching, with_job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.controllers.job import Job
    from trainway.agent.controllers.jobset import JobSet


def handle_failure(jobset: JobSet, failed: list[Job], now: float) -> None:
    """Fail or restart, by the policy. `failed` has at least one Job."""
    policy = jobset.failure_policy
    if policy is None:
        message = with_job("jobset failed due to one or more job failures", first_failed(failed))
        jobset.end("Failed", "FailedJobs", message, now)
        return
    rule, job = matching(policy.get("rules") or [], failed)
    action = str(rule.get("action") or "RestartJobSet") if rule else "RestartJobSet"
    if action == "FailJobSet":
        message = with_job("applying FailJobSet failure policy action", job)
        jobset.end("Failed", "FailJobSetFailurePolicyAction", message, now)
        return
    counts = not action.endswith("AndIgnoreMaxRestarts")
    if counts and _total_restarts(jobset) >= (policy.get("maxRestarts") or 0):
        message = with_job("jobset failed due to reaching max number of restarts", job)
        jobset.end("Failed", "ReachedMaxRestarts", message, now)
        return
    message = with_job(f"applying {action} failure policy action", job)
    if action.startswith("RestartJobSet"):
        jobset.begin_anew(now)
        jobset.restarts_count_towards_max += counts
        reason = f"FailurePolicy_{rule.get('name', '')}" if rule else "DefaultFailurePolicy"
        jobset.set("RestartingJobSet", True, reason, message, now)
    else:
        _restart_job(jobset, job, counts=counts)
    jobset.events.append(("Warning", f"{action}FailurePolicyAction", message))


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
