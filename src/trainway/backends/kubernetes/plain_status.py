"""How a set of plain Jobs fares, in the words of JobSet's status, and what to do about it. Pure.

A cluster without JobSet has nobody who ends the other Jobs when one has failed, or starts a role
when another is ready. This backend does so while it watches: `steps` says what is due.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from trainway.agent.base.job_spec import JobSpec
from trainway.agent.controllers import jobset_rules as rules
from trainway.agent.controllers.conditions import set_condition
from trainway.agent.controllers.jobset_failure_policy import FAIL, Ruling, ruling
from trainway.backends.kubernetes.plain_restarts import Restarts, current, earlier, missing
from trainway.backends.kubernetes.pods import is_ready
from trainway.jobset.labels import JOB_NAME, REPLICATED_JOB_NAME
from trainway.jobset.status import conditions_of, find_condition, find_true
from trainway.json_types import Json

NONE: Final = Restarts()
_TERMINAL: Final = ("Completed", "Failed")


class FailedJob(NamedTuple):
    """A Job that failed, as the rules of JobSet look at it."""

    name: str
    role: str
    failure: Json


class Step(NamedTuple):
    """Something to do with a Job: `start`, `suspend`, `delete` or `create` it."""

    action: str
    name: str
    uid: str = ""
    """Where only that very Job is meant, and not one that has its name by now."""


def with_ready(jobs: Sequence[Json], pods: Iterable[Json]) -> list[Json]:
    """The Jobs with as many ready pods as there are; their controller counts a second later."""
    ready = Counter(_job_name(pod) for pod in pods if is_ready(pod))
    return [_raised(job, ready[job["metadata"]["name"]]) for job in jobs]


def status_of(
    policy: Json,
    all_jobs: Sequence[Json],
    before: Json,
    *,
    is_suspended: bool,
    restarts: Restarts = NONE,
) -> Json:
    """The status that a JobSet with these Jobs would have; `before` is the last one given."""
    jobs = current(all_jobs, restarts)
    counts = {role["name"]: dict(rules.NO_COUNTS) for role in policy["roles"]}
    for job in jobs:
        role = _role(job)
        if role in counts:
            for field in _counted(job):
                counts[role][field] += 1
    statuses = [{"name": name, **numbers} for name, numbers in counts.items()]
    status: Json = {"restarts": restarts.whole, "replicatedJobsStatus": statuses}
    if restarts.counted:
        status["restartsCountTowardsMax"] = restarts.counted
    conditions = _terminal(before) or _ended(policy, jobs, restarts)
    if not conditions:
        conditions = _suspended(jobs, before, is_suspended)
        replicas = _replicas(policy)
        have_started = all(rules.has_started(counts[role], replicas[role]) for role in replicas)
        conditions += _restarting(restarts, before, is_ready=have_started)
    return status | ({"conditions": conditions} if conditions else {})


def restarted(policy: Json, jobs: Sequence[Json], status: Json, restarts: Restarts) -> Restarts:
    """How often the set was restarted, with the restart that is due now, if one is."""
    failed = _failed(current(jobs, restarts))
    if _terminal(status) or not failed:
        return restarts
    found = _ruling(policy, failed, restarts)
    return restarts if found.fails else restarts.after(found)


def steps(
    policy: Json,
    all_jobs: Sequence[Json],
    status: Json,
    *,
    is_suspended: bool,
    restarts: Restarts = NONE,
    names: Sequence[str] = (),
) -> list[Step]:
    """What JobSet would do now; `names` are those of Jobs that can be made anew."""
    jobs = current(all_jobs, restarts)
    left = [job for job in jobs if not _end(job) and not _is_leaving(job)]
    if _terminal(status):
        return [Step("delete", job["metadata"]["name"]) for job in left]
    over = [job for job in earlier(all_jobs, restarts) if not _is_leaving(job)]
    if over:
        return [
            Step("delete", job["metadata"]["name"], str(job["metadata"].get("uid") or ""))
            for job in over
        ]
    # A gang begins anew as a whole: once all that is left of the attempt before is gone.
    if not earlier(all_jobs, restarts) and (gone := missing(names, all_jobs, restarts)):
        return [Step("create", name) for name in gone]
    if is_suspended:
        running = [job for job in left if not job["spec"].get("suspend")]
        return [Step("suspend", job["metadata"]["name"]) for job in running]
    return [Step("start", name) for name in _startable(policy, left, status)]


def _startable(policy: Json, jobs: Sequence[Json], status: Json) -> Iterator[str]:
    counts = {item["name"]: item for item in status["replicatedJobsStatus"]}
    roles, replicas = policy["roles"], _replicas(policy)
    for number, role in enumerate(roles):
        is_due = rules.dependencies_met(role["dependsOn"], counts, replicas)
        before = roles[:number] if policy["inOrder"] else ()
        if is_due and all(
            rules.has_started(counts[each["name"]], each["replicas"]) for each in before
        ):
            held = (job for job in jobs if job["spec"].get("suspend"))
            yield from (job["metadata"]["name"] for job in held if _role(job) == role["name"])


def _replicas(policy: Json) -> dict[str, int]:
    return {role["name"]: role["replicas"] for role in policy["roles"]}


def _counted(job: Json) -> Iterator[str]:
    """In which of the numbers of its role a Job counts."""
    end = _end(job)
    if end is not None:
        yield "succeeded" if end["type"] == "Complete" else "failed"
        return
    spec, status = job["spec"], job.get("status") or {}
    done = int(status.get("succeeded") or 0) + int(status.get("ready") or 0)
    if done >= JobSpec(spec).pods:
        yield "ready"
    if status.get("active"):
        yield "active"
    if spec.get("suspend"):
        yield "suspended"


def _ended(policy: Json, jobs: Sequence[Json], restarts: Restarts) -> list[Json]:
    """The condition that ends the set, if its Jobs say so."""
    ends = [(job, end) for job in jobs if (end := _end(job)) is not None]
    failed = _failed(jobs)
    if failed:
        found = _ruling(policy, failed, restarts)
        time = str(found.job.failure.get("lastTransitionTime") or "")
        return [_condition("Failed", found.reason, found.message, time)] if found.fails else []
    if not rules.has_succeeded(
        policy["successPolicy"], _replicas(policy), [_role(job) for job, _ in ends]
    ):
        return []
    wanted = policy["successPolicy"].get("targetReplicatedJobs") or _replicas(policy)
    times = [str(end.get("lastTransitionTime") or "") for job, end in ends if _role(job) in wanted]
    time = max(times, default="")
    return [_condition("Completed", "AllJobsCompleted", "jobset completed successfully", time)]


def _failed(jobs: Iterable[Json]) -> list[FailedJob]:
    return [
        FailedJob(job["metadata"]["name"], _role(job), end)
        for job in jobs
        if (end := _end(job)) is not None and end["type"] == "Failed"
    ]


def _ruling(policy: Json, failed: Sequence[FailedJob], restarts: Restarts) -> Ruling:
    """What the failure policy says; that of a job of an older server only knows what fails it."""
    known = policy.get("failurePolicy")
    if "failing" in policy and rules.matching(policy["failing"], failed)[0]:
        known = {"rules": [{**rule, "action": FAIL} for rule in policy["failing"]]}
    return ruling(known, failed, restarts.counted)


def _restarting(restarts: Restarts, before: Json, *, is_ready: bool) -> list[Json]:
    """The condition RestartingJobSet, once the set ever was restarted."""
    if not restarts.whole:
        return []
    known = find_condition(before.get("conditions") or (), "RestartingJobSet")
    if known is None or before.get("restarts") != restarts.whole:
        return [_condition("RestartingJobSet", restarts.reason, restarts.message, restarts.time)]
    if known["status"] == "True" and is_ready:
        words = {"status": "False", "reason": "JobsReady", "message": "all jobs are ready"}
        return [{**known, **words}]
    return [dict(known)]


def _suspended(jobs: Sequence[Json], before: Json, is_suspended: bool) -> list[Json]:
    """The condition Suspended, once the set ever was."""
    words = ("ResumeJobs", "jobset is resumed")
    if is_suspended:
        words = ("SuspendedJobs", "jobset is suspended")
    times = [
        str(item.get("lastTransitionTime") or "") for job in jobs for item in conditions_of(job)
    ]
    made = [str(job["metadata"].get("creationTimestamp") or "") for job in jobs]
    new = _condition("Suspended", *words, max([*times, *made], default=""))
    known = find_condition(before.get("conditions") or (), "Suspended")
    conditions = [dict(known)] if known is not None else []
    set_condition(conditions, new | {"status": "True" if is_suspended else "False"})
    return conditions


def _condition(kind: str, reason: str, message: str, time: str) -> Json:
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": time,
    }


def _terminal(status: Json) -> list[Json]:
    """The conditions of a set that has ended; none: it has not."""
    conditions: list[Json] = status.get("conditions") or []
    is_over = any(find_true(conditions, kind) for kind in _TERMINAL)
    return conditions if is_over else []


def _end(job: Json) -> Json | None:
    """The condition with which a Job ended."""
    conditions = conditions_of(job)
    return find_true(conditions, "Complete") or find_true(conditions, "Failed")


def _raised(job: Json, ready: int) -> Json:
    status = job.get("status") or {}
    if ready <= int(status.get("ready") or 0):
        return job
    return {**job, "status": {**status, "ready": ready}}


def _job_name(pod: Json) -> str:
    return str((pod["metadata"].get("labels") or {}).get(JOB_NAME) or "")


def _role(job: Json) -> str:
    return str((job["metadata"].get("labels") or {}).get(REPLICATED_JOB_NAME) or "")


def _is_leaving(job: Json) -> bool:
    return "deletionTimestamp" in job["metadata"]
