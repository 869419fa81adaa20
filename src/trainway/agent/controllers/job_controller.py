"""What to do next with the pods of one Job: the Job controller of Kubernetes, on its own.

`sync` looks at a Job and its pods and returns pods to make and pods to stop; it does nothing itself
and asks no clock. Two things differ from a cluster: a failed pod is replaced after 1 s, then 2, 4
and so on up to 360 s, where a cluster begins with 10 s, and a Job's end is decided at once where a
cluster gathers news of pods for a second. That second is kept in one place: a container that is
restarted in its pod gets it before its restarts are held against the back-off limit, so that with
`backoffLimit: 0` it still starts a second time, as it does on a cluster.
"""

from __future__ import annotations

from trainway.agent.controllers import elastic_rules, indexes
from trainway.agent.controllers.conditions import condition, set_condition
from trainway.agent.controllers.job import IndexFailures, Job
from trainway.agent.controllers.pod_failure_policy import judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainway.agent.base.pod_status import PodStatus
    from trainway.json_types import Json

BACKOFF_BASE = 1.0
BACKOFF_MAX = 360.0
RESTART_GRACE = 1.0


class Decision:
    """What is to be done now, and when to look again."""

    def __init__(self) -> None:
        self.create: list[int | None] = []
        """The indexes of pods to make; None where pods have no index."""
        self.delete: list[str] = []
        """The uids of the pods to stop."""
        self.wake_at: float | None = None
        self.events: list[tuple[str, str, str]] = []
        """The type, reason and message of what is to be told."""

    def wake(self, moment: float) -> None:
        """Ask to be looked at again at that moment, if not before."""
        self.wake_at = moment if self.wake_at is None else min(self.wake_at, moment)


def sync(job: Job, pods: Sequence[PodStatus], now: float) -> Decision:
    """Count what ended, decide whether the Job is over, and if not which pods it needs."""
    decision = Decision()
    if job.finished:
        return decision
    if job.start_time is None and not job.suspend and not job.deleting:
        job.start_time = now
    _count(job, [pod for pod in pods if pod.uid not in job.counted])
    if not job.deleting and job.target is None:
        job.target = _failure(job, pods, now, decision) or _success_by_policy(job, now)
    active = [pod for pod in pods if pod.active]
    if job.deleting or job.target is not None:
        decision.delete = [pod.uid for pod in active]
    else:
        _manage(job, active, pods, now, decision)
    _measure(job, pods, decision)
    if not job.deleting and job.target is None:
        decision.events += elastic_rules.news(job, pods)
    if not job.deleting:
        if job.target is None and _completions_reached(job):
            job.target = _reached(now)
        _finish(job, now, decision)
        if job.target is None:
            _note_suspension(job, now, decision)
    return decision


def _count(job: Job, pods: Sequence[PodStatus]) -> None:
    """Add pods that ended to the counters."""
    succeeded = [pod for pod in pods if pod.phase == "Succeeded"]
    failed = [pod for pod in pods if _is_failed(job, pod)]
    for pod in succeeded:
        job.counted.add(pod.uid)
        if pod.index is None:
            job.succeeded_pods += 1
        else:
            job.completed.add(pod.index)
    for pod in failed:
        job.counted.add(pod.uid)
        verdict = judge(job.spec.failure_rules, pod, job.namespace)
        job.failed += verdict.counts
        if job.spec.backoff_limit_per_index is not None and pod.index is not None:
            _count_for_index(job, pod.index, pod, verdict.action)
    _note_backoff(job, succeeded, failed)


def _count_for_index(job: Job, index: int, pod: PodStatus, action: str) -> None:
    failures = job.index_failures.setdefault(index, IndexFailures())
    counts = action != "Ignore"
    limit = job.spec.backoff_limit_per_index or 0
    if action == "FailIndex" or (counts and failures.counted >= limit):
        job.failed_indexes.add(index)
    failures.counted += counts
    failures.ignored += not counts
    failures.last = max(failures.last, pod.finished_at)


def _note_backoff(job: Job, succeeded: Iterable[PodStatus], failed: Iterable[PodStatus]) -> None:
    """A success starts the count anew; only failures after the last success delay the next pod."""
    last_success = max((pod.finished_at for pod in succeeded), default=None)
    if last_success is not None:
        job.failures_since_success = 0
        job.last_failure = 0.0
    for pod in failed:
        if last_success is None or pod.finished_at > last_success:
            job.failures_since_success += 1
            job.last_failure = max(job.last_failure, pod.finished_at)


def _is_failed(job: Job, pod: PodStatus) -> bool:
    if pod.phase == "Failed":
        return True
    return pod.deleted and pod.phase != "Succeeded" and not job.spec.replaces_failed_only


def _failure(job: Job, pods: Sequence[PodStatus], now: float, decision: Decision) -> Json | None:
    """Why the Job must fail, in the order in which Kubernetes looks."""
    spec = job.spec
    for pod in pods:
        if spec.failure_rules and _is_failed(job, pod):
            verdict = judge(spec.failure_rules, pod, job.namespace)
            if verdict.action == "FailJob":
                return _target("FailureTarget", "PodFailurePolicy", verdict.message, now)
    if job.failed > spec.backoff_limit or _restarted_too_often(job, pods, now, decision):
        message = "Job has reached the specified backoff limit"
        return _target("FailureTarget", "BackoffLimitExceeded", message, now)
    if spec.active_deadline is not None and not job.suspend and job.start_time is not None:
        deadline = job.start_time + spec.active_deadline
        if now >= deadline:
            message = "Job was active longer than specified deadline"
            return _target("FailureTarget", "DeadlineExceeded", message, now)
        decision.wake(deadline)
    collapse = elastic_rules.collapse(job, pods)
    if collapse:
        return _target("FailureTarget", elastic_rules.TOO_FEW_NODES, collapse, now)
    return _failure_of_indexes(job, now)


def _failure_of_indexes(job: Job, now: float) -> Json | None:
    spec, failed = job.spec, len(job.failed_indexes)
    if not spec.indexed or spec.backoff_limit_per_index is None:
        return None
    if spec.max_failed_indexes is not None and failed > spec.max_failed_indexes:
        message = "Job has exceeded the specified maximal number of failed indexes"
        return _target("FailureTarget", "MaxFailedIndexesExceeded", message, now)
    if failed and failed + len(job.completed) >= (spec.completions or 0):
        return _target("FailureTarget", "FailedIndexes", "Job has failed indexes", now)
    return None


def _restarted_too_often(
    job: Job, pods: Sequence[PodStatus], now: float, decision: Decision
) -> bool:
    """Whether containers were restarted in their pods as often as pods may fail."""
    if job.spec.restart_policy != "OnFailure":
        return False
    restarts = 0
    for pod in pods:
        if not pod.terminal:
            for moment in pod.restart_times:
                if moment + RESTART_GRACE <= now:
                    restarts += 1
                else:
                    decision.wake(moment + RESTART_GRACE)
    return restarts > 0 and restarts >= job.spec.backoff_limit


def _success_by_policy(job: Job, now: float) -> Json | None:
    """Whether a rule of the Job's successPolicy is met."""
    if not job.spec.indexed or not job.completed:
        return None
    for position, rule in enumerate(job.spec.success_rules):
        wanted_count = rule.get("succeededCount")
        listed = rule.get("succeededIndexes")
        if listed is None:
            met = wanted_count is not None and len(job.completed) >= wanted_count
        else:
            wanted = indexes.parse(listed, job.spec.completions or 0)
            done = wanted & job.completed
            enough = wanted_count is not None and len(done) >= wanted_count
            met = bool(wanted) and (done == wanted or enough)
        if met:
            message = f"Matched rules at index {position}"
            return _target("SuccessCriteriaMet", "SuccessPolicy", message, now)
    return None


def _manage(
    job: Job, active: Sequence[PodStatus], pods: Sequence[PodStatus], now: float, decision: Decision
) -> None:
    """Bring the number of running pods to what it should be."""
    dismissed = [pod.uid for pod in active if pod.index in job.dismissed]
    if dismissed:
        decision.delete = dismissed
        job.counted.update(dismissed)
        return
    wanted = 0 if job.suspend else _wanted(job, active)
    if len(active) > wanted:
        surplus = sorted(active, key=_removal_order)[: len(active) - wanted]
        decision.delete = [pod.uid for pod in surplus]
        job.counted.update(decision.delete)
        return
    terminating = [pod for pod in pods if pod.deleted and not pod.terminal]
    missing = wanted - len(active)
    if job.spec.replaces_failed_only:
        missing -= len(terminating)
    if missing <= 0:
        return
    if not job.spec.indexed:
        if not _is_delayed(job.failures_since_success, job.last_failure, now, decision):
            decision.create = [None] * missing
        return
    busy = {pod.index for pod in active}
    if job.spec.replaces_failed_only:
        busy |= {pod.index for pod in terminating}
    taken = busy | job.completed | job.failed_indexes | job.dismissed
    pending = [index for index in range(job.spec.completions or 0) if index not in taken]
    decision.create = list(_startable(job, pending[:missing], now, decision))


def _wanted(job: Job, active: Sequence[PodStatus]) -> int:
    if elastic_rules.is_ending(job):
        return sum(pod.placed for pod in active)
    if job.spec.completions is None:
        return len(active) if job.succeeded > 0 else job.spec.parallelism
    left = job.spec.completions - job.succeeded - len(job.dismissed - job.completed)
    return max(0, min(left, job.spec.parallelism))


def _startable(job: Job, pending: Iterable[int], now: float, decision: Decision) -> Iterable[int]:
    """Those of the indexes whose back-off has passed."""
    if job.spec.backoff_limit_per_index is None:
        delayed = _is_delayed(job.failures_since_success, job.last_failure, now, decision)
        return [] if delayed else pending
    startable = []
    for index in pending:
        failures = job.index_failures.get(index, IndexFailures())
        if not _is_delayed(failures.counted + failures.ignored, failures.last, now, decision):
            startable.append(index)
    return startable


def _is_delayed(failures: int, last: float, now: float, decision: Decision) -> bool:
    if not failures:
        return False
    start = last + min(BACKOFF_BASE * 2 ** min(failures - 1, 32), BACKOFF_MAX)
    if now >= start:
        return False
    decision.wake(start)
    return True


def _removal_order(pod: PodStatus) -> tuple[bool, bool, bool]:
    """Pods that got least far go first."""
    return (pod.placed, pod.phase == "Running", pod.ready)


def _measure(job: Job, pods: Sequence[PodStatus], decision: Decision) -> None:
    """Set the counts of pods as they will be once the decision is carried out."""
    doomed = set(decision.delete)
    staying = [pod for pod in pods if pod.active and pod.uid not in doomed]
    job.active = len(staying) + len(decision.create)
    job.ready = sum(pod.ready for pod in staying)
    job.terminating = sum(not pod.terminal for pod in pods) - len(staying)


def _completions_reached(job: Job) -> bool:
    if job.active:
        return False
    if job.spec.minimum is not None:
        return job.succeeded >= job.spec.minimum
    if job.spec.completions is None:
        return job.succeeded > 0
    return job.succeeded >= job.spec.completions


def _reached(now: float) -> Json:
    message = "Reached expected number of succeeded pods"
    return _target("SuccessCriteriaMet", "CompletionsReached", message, now)


def _finish(job: Job, now: float, decision: Decision) -> None:
    """End the Job once its last pod is gone."""
    target = job.target
    if target is None or job.active or job.terminating:
        return
    failed = target["type"] == "FailureTarget"
    type_ = "Failed" if failed else "Complete"
    set_condition(job.conditions, condition(type_, True, target["reason"], target["message"], now))
    if failed:
        decision.events.append(("Warning", target["reason"], target["message"]))
    else:
        decision.events.append(("Normal", "Completed", "Job completed"))


def _note_suspension(job: Job, now: float, decision: Decision) -> None:
    reason = ("JobSuspended", "Job suspended") if job.suspend else ("JobResumed", "Job resumed")
    if set_condition(job.conditions, condition("Suspended", job.suspend, *reason, now)):
        decision.events.append(("Normal", reason[0][3:], reason[1]))
        job.start_time = None if job.suspend else now


def _target(type_: str, reason: str, message: str, now: float) -> Json:
    return condition(type_, True, reason, message, now)
