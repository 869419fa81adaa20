"""What to do next with the Jobs of a JobSet: the JobSet controller, without an API server.

`reconcile` makes, deletes, suspends and resumes Jobs by changing the `JobSet` it is given, which is
plain data; whoever calls it carries out what that means for pods. A Job that is being deleted keeps
its name until its last pod is gone, so that its successor waits for that, as on a cluster.
InPlaceRestart needs help from the containers; here Jobs are recreated instead.
"""

from __future__ import annotations

from trainway.agent.controllers.elastic_rules import dismissals
from trainway.agent.controllers.job import Job
from trainway.agent.controllers.jobset_failure_policy import handle_failure
from trainway.agent.controllers.jobset_rules import (
    COUNTS,
    dependencies_met,
    has_started,
    has_succeeded,
)
from trainway.agent.controllers.lingering import lingering, succeeded_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.plan import Role
    from trainway.agent.controllers.jobset import JobSet


def reconcile(jobset: JobSet, now: float) -> None:
    """Bring the Jobs to what the JobSet wants; call it again whenever a Job has changed."""
    before: tuple[int, str] | None = None
    while before != _stage(jobset):
        before = _stage(jobset)
        _reconcile_once(jobset, now)


def _stage(jobset: JobSet) -> tuple[int, str]:
    """What a pass can change so that the Jobs must be looked at once more."""
    restarts = sum(sum(counts) for counts in jobset.job_restarts.values())
    return jobset.restarts + restarts, jobset.terminal_state


def _reconcile_once(jobset: JobSet, now: float) -> None:
    jobs = list(jobset.jobs.values())
    previous = [job for job in jobs if _is_previous(jobset, job)]
    current = [job for job in jobs if not _is_previous(jobset, job)]
    active = [job for job in current if not job.finished]
    failed = [job for job in current if job.is_failed]
    jobset.counts = {role.name: _counts(role, current) for role in jobset.roles}
    if jobset.finished:
        _delete(active)
        return
    _delete(previous)
    if not jobset.suspend and _all_ready(jobset):
        jobset.set("RestartingJobSet", False, "JobsReady", "all jobs are ready", now)
    is_done = _succeeded(jobset, current)
    if is_done and _linger(jobset, current, active, now):
        return
    if failed and not (is_done and jobset.delays):
        handle_failure(jobset, failed, now)
        return
    if is_done:
        jobset.end("Completed", "AllJobsCompleted", "jobset completed successfully", now)
        return
    if jobset.backoff.is_due(now):
        jobset.backoff.began(now)
        _create_jobs(jobset, blocked=bool(previous), now=now)
    if jobset.suspend:
        _suspend(jobset, active, now)
    else:
        _resume(jobset, active, now)


def _is_previous(jobset: JobSet, job: Job) -> bool:
    if job.attempt < jobset.restarts:
        return True
    return job.job_attempt < jobset.restarts_of(job.role, job.index)


def _counts(role: Role, jobs: list[Job]) -> dict[str, int]:
    counts = dict.fromkeys(COUNTS, 0)
    for job in jobs:
        if job.role != role.name:
            continue
        if job.finished:
            counts["succeeded" if job.is_complete else "failed"] += 1
        else:
            counts["ready"] += job.all_ready and not job.deleting
            counts["active"] += job.active > 0
            counts["suspended"] += job.suspend
    return counts


def _all_ready(jobset: JobSet) -> bool:
    ready = sum(counts["ready"] + counts["succeeded"] for counts in jobset.counts.values())
    return ready == sum(role.replicas for role in jobset.roles)


def _delete(jobs: list[Job]) -> None:
    for job in jobs:
        job.deleting = True


def _succeeded(jobset: JobSet, jobs: list[Job]) -> bool:
    complete = [job.role for job in jobs if job.is_complete]
    return has_succeeded(jobset.success_policy, _replicas(jobset), complete)


def _linger(jobset: JobSet, jobs: list[Job], active: list[Job], now: float) -> bool:
    """After the success, end those Jobs whose delay is over; whether some of them go on."""
    if not jobset.delays:
        return False
    targets = jobset.success_policy.get("targetReplicatedJobs") or _replicas(jobset)
    until = lingering(active, succeeded_at(jobs, targets), jobset.delays)
    _delete([job for job in active if until[job.name] <= now])
    left = [moment for moment in until.values() if moment > now]
    jobset.wake_at = min(left) if left else None
    return bool(left)


def _replicas(jobset: JobSet) -> dict[str, int]:
    return {role.name: role.replicas for role in jobset.roles}


def _create_jobs(jobset: JobSet, *, blocked: bool, now: float) -> None:
    """Create the Jobs whose turn it is."""
    strategy = (jobset.failure_policy or {}).get("restartStrategy")
    may_create = not (blocked and strategy == "BlockingRecreate")
    in_order = jobset.starts_in_order and not jobset.suspend
    for role in jobset.roles:
        if not _dependencies_met(jobset, role):
            continue
        if in_order and _started(jobset, role):
            continue
        if may_create:
            _create_missing(jobset, role)
        if in_order:
            _startup_in_progress(jobset, now)
            return
    if in_order:
        message = "in order startup policy has completed"
        reason = "InOrderStartupPolicyCompleted"
        jobset.set("StartupPolicyCompleted", True, reason, message, now)


def _create_missing(jobset: JobSet, role: Role) -> None:
    for index in range(role.replicas):
        name = jobset.job_name(role.name, index)
        if name in jobset.jobs:
            continue
        job = Job(name, role.name, index, role.job)
        job.namespace = jobset.namespace
        job.attempt = jobset.restarts
        job.job_attempt = jobset.restarts_of(role.name, index)
        job.suspend = jobset.suspend
        job.dismissed = dismissals(job, jobset.most_nodes)
        jobset.jobs[name] = job


def _dependencies_met(jobset: JobSet, role: Role) -> bool:
    return dependencies_met(role.depends_on, jobset.counts, _replicas(jobset))


def _started(jobset: JobSet, role: Role) -> bool:
    return has_started(jobset.counts[role.name], role.replicas)


def _startup_in_progress(jobset: JobSet, now: float) -> None:
    message = "in order startup policy is in progress"
    reason = "InOrderStartupPolicyInProgress"
    jobset.set("StartupPolicyInProgress", True, reason, message, now)


def _suspend(jobset: JobSet, active: list[Job], now: float) -> None:
    for job in active:
        job.suspend = True
    jobset.set("Suspended", True, "SuspendedJobs", "jobset is suspended", now)
    jobset.set("RestartingJobSet", False, "JobSetSuspended", "jobset is suspended", now)


def _resume(jobset: JobSet, active: list[Job], now: float) -> None:
    for role in jobset.roles:
        if not _dependencies_met(jobset, role):
            continue
        if jobset.starts_in_order and _started(jobset, role):
            continue
        for job in active:
            if job.role == role.name:
                job.suspend = False
        if jobset.starts_in_order:
            _startup_in_progress(jobset, now)
            return
    jobset.set("Suspended", False, "ResumeJobs", "jobset is resumed", now)
