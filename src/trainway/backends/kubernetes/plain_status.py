"""How a set of plain Jobs fares, in the words of JobSet's status, and what to do about it. Pure.

A cluster without JobSet has nobody who ends the other Jobs when one has failed, or starts a role
when another is ready. This backend does so while it watches: `steps` says what is due.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from trainway.backends.kubernetes.pods import is_ready
from trainway.jobset.labels import JOB_NAME, REPLICATED_JOB_NAME
from trainway.jobset.status import conditions_of, find_true
from trainway.json_types import Json

_COUNTS: Final = ("ready", "succeeded", "failed", "active", "suspended")
_TERMINAL: Final = ("Completed", "Failed")


class Step(NamedTuple):
    """Something to do with a Job: `start`, `suspend` or `delete` it."""

    action: str
    name: str


def with_ready(jobs: Sequence[Json], pods: Iterable[Json]) -> list[Json]:
    """The Jobs with as many ready pods as there are; their controller counts a second later."""
    ready = Counter(_job_name(pod) for pod in pods if is_ready(pod))
    return [_raised(job, ready[job["metadata"]["name"]]) for job in jobs]


def status_of(policy: Json, jobs: Sequence[Json], before: Json, *, is_suspended: bool) -> Json:
    """The status that a JobSet with these Jobs would have; `before` is the last one given."""
    counts = {role["name"]: dict.fromkeys(_COUNTS, 0) for role in policy["roles"]}
    for job in jobs:
        role = _role(job)
        if role in counts:
            for field in _counted(job):
                counts[role][field] += 1
    statuses = [{"name": name, **numbers} for name, numbers in counts.items()]
    status: Json = {"restarts": 0, "replicatedJobsStatus": statuses}
    conditions = _terminal(before) or _ended(policy, jobs) or _suspended(jobs, before, is_suspended)
    return status | ({"conditions": conditions} if conditions else {})


def steps(policy: Json, jobs: Sequence[Json], status: Json, *, is_suspended: bool) -> list[Step]:
    """What JobSet would do now."""
    left = [job for job in jobs if not _end(job) and not _is_leaving(job)]
    if _terminal(status):
        return [Step("delete", job["metadata"]["name"]) for job in left]
    if is_suspended:
        running = [job for job in left if not job["spec"].get("suspend")]
        return [Step("suspend", job["metadata"]["name"]) for job in running]
    return [Step("start", name) for name in _startable(policy, left, status)]


def _startable(policy: Json, jobs: Sequence[Json], status: Json) -> Iterator[str]:
    counts = {item["name"]: item for item in status["replicatedJobsStatus"]}
    roles = policy["roles"]
    for number, role in enumerate(roles):
        waits = [_is_met(each, roles, counts) for each in role["dependsOn"]]
        if policy["inOrder"]:
            waits += [_is_ready(counts[each["name"]], each["replicas"]) for each in roles[:number]]
        if all(waits):
            held = (job for job in jobs if job["spec"].get("suspend"))
            yield from (job["metadata"]["name"] for job in held if _role(job) == role["name"])


def _is_met(dependency: Json, roles: Sequence[Json], counts: Mapping[str, Json]) -> bool:
    name = dependency["name"]
    replicas = next((role["replicas"] for role in roles if role["name"] == name), 0)
    if dependency.get("status") == "Complete":
        return bool(counts[name]["succeeded"] >= replicas)
    return _is_ready(counts[name], replicas)


def _is_ready(counts: Json, replicas: int) -> bool:
    return bool(counts["ready"] + counts["succeeded"] >= replicas)


def _counted(job: Json) -> Iterator[str]:
    """In which of the numbers of its role a Job counts."""
    end = _end(job)
    if end is not None:
        yield "succeeded" if end["type"] == "Complete" else "failed"
        return
    spec, status = job["spec"], job.get("status") or {}
    pods = spec.get("parallelism")
    pods = 1 if pods is None else int(pods)
    if spec.get("completions") is not None:
        pods = min(pods, int(spec["completions"]))
    if int(status.get("succeeded") or 0) + int(status.get("ready") or 0) >= pods:
        yield "ready"
    if status.get("active"):
        yield "active"
    if spec.get("suspend"):
        yield "suspended"


def _ended(policy: Json, jobs: Sequence[Json]) -> list[Json]:
    """The condition that ends the set, if its Jobs say so."""
    ends = [(job, end) for job in jobs if (end := _end(job)) is not None]
    failed = [(job, end) for job, end in ends if end["type"] == "Failed"]
    if failed:
        return [_failure(policy, failed)]
    wanted = policy["successPolicy"].get("targetReplicatedJobs") or []
    done = [end for job, end in ends if not wanted or _role(job) in wanted]
    expected = sum(
        role["replicas"] for role in policy["roles"] if not wanted or role["name"] in wanted
    )
    if policy["successPolicy"].get("operator") == "Any":
        expected = 1
    if not done or len(done) < expected:
        return []
    time = max(str(end.get("lastTransitionTime") or "") for end in done)
    return [_condition("Completed", "AllJobsCompleted", "jobset completed successfully", time)]


def _failure(policy: Json, failed: Sequence[tuple[Json, Json]]) -> Json:
    for rule in policy["failing"]:
        matching = [(job, end) for job, end in failed if _applies(rule, job, end)]
        if matching:
            job, end = _first(matching)
            reason, text = (
                "FailJobSetFailurePolicyAction",
                "applying FailJobSet failure policy action",
            )
            return _failed(reason, text, job, end)
    job, end = _first(failed)
    return _failed("FailedJobs", "jobset failed due to one or more job failures", job, end)


def _failed(reason: str, text: str, job: Json, end: Json) -> Json:
    message = f"{text} (first failed job: {job['metadata']['name']})"
    return _condition("Failed", reason, message, str(end.get("lastTransitionTime") or ""))


def _applies(rule: Json, job: Json, end: Json) -> bool:
    reasons = rule.get("onJobFailureReasons") or []
    patterns = rule.get("onJobFailureMessagePatterns") or []
    targets = rule.get("targetReplicatedJobs") or []
    text = str(end.get("message") or "")
    return (
        (not reasons or end.get("reason") in reasons)
        and (not patterns or any(_matches(pattern, text) for pattern in patterns))
        and (not targets or _role(job) in targets)
    )


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def _first(failed: Sequence[tuple[Json, Json]]) -> tuple[Json, Json]:
    return min(failed, key=lambda pair: str(pair[1].get("lastTransitionTime") or ""))


def _suspended(jobs: Sequence[Json], before: Json, is_suspended: bool) -> list[Json]:
    """The condition Suspended, once the set ever was."""
    status = "True" if is_suspended else "False"
    known = next(
        (item for item in before.get("conditions") or () if item["type"] == "Suspended"), None
    )
    if known is not None and known["status"] == status:
        return [known]
    if known is None and status == "False":
        return []
    words = ("SuspendedJobs", "jobset is suspended")
    if status == "False":
        words = ("ResumeJobs", "jobset is resumed")
    times = [
        str(item.get("lastTransitionTime") or "") for job in jobs for item in conditions_of(job)
    ]
    made = [str(job["metadata"].get("creationTimestamp") or "") for job in jobs]
    time = max([*times, *made], default="")
    return [_condition("Suspended", *words, time) | {"status": status}]


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
