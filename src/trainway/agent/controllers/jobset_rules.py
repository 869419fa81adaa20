"""JobSet's rules, on numbers and conditions alone. Pure.

The JobSet controller here decides with them (`jobset_controller`, `jobset_failure_policy`), and so
does the Kubernetes backend where a cluster has no JobSet (`plain_status` there), so that a job
starts and ends alike in both.

The counts of a role are those of a JobSet's status. A failed Job has `name`, `role` and `failure`,
its condition Failed. Message patterns are regular expressions of Go's dialect; what Python's reads
alike works, and a pattern that Python cannot read never matches, as a broken one does in a cluster.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from trainway.json_types import Json

    Counts = Mapping[str, int]

COUNTS = ("ready", "succeeded", "failed", "active", "suspended")
NO_COUNTS = dict.fromkeys(COUNTS, 0)


def has_started(counts: Counts, replicas: int) -> bool:
    """Whether all Jobs of a role are ready, or over."""
    return counts["failed"] + counts["ready"] + counts["succeeded"] == replicas


def dependencies_met(
    depends_on: Iterable[Json], counts: Mapping[str, Counts], replicas: Mapping[str, int]
) -> bool:
    """Whether the roles that one waits for are as far as it wants them."""
    for dependency in depends_on:
        name = dependency["name"]
        reached, wanted = counts.get(name, NO_COUNTS), replicas.get(name, -1)
        if dependency.get("status") == "Complete":
            if reached["succeeded"] != wanted:
                return False
        elif not has_started(reached, wanted):
            return False
    return True


def has_succeeded(policy: Json, replicas: Mapping[str, int], complete: Collection[str]) -> bool:
    """Whether enough Jobs are complete; at least one must be. `complete` has the role of each."""
    if not complete:
        return False
    targets = policy.get("targetReplicatedJobs") or replicas
    needed = sum(count for role, count in replicas.items() if role in targets)
    if policy.get("operator") == "Any":
        needed = 1
    return sum(role in replicas and role in targets for role in complete) >= needed


def matching(rules: Iterable[Json], failed: Sequence[Any]) -> tuple[Json, Any]:
    """The first rule that matches a failed Job, with the earliest such Job; or no rule."""
    for rule in rules:
        jobs = [job for job in failed if _applies(rule, job)]
        if jobs:
            return rule, first_failed(jobs)
    return {}, first_failed(failed)


def first_failed(failed: Iterable[Any]) -> Any:
    """The Job that failed before all others."""
    return min(failed, key=lambda job: str(job.failure.get("lastTransitionTime") or ""))


def with_job(message: str, job: Any) -> str:
    """A message, and which Job is to blame."""
    return f"{message} (first failed job: {job.name})"


def _applies(rule: Json, job: Any) -> bool:
    reasons = rule.get("onJobFailureReasons") or []
    patterns = rule.get("onJobFailureMessagePatterns") or []
    targets = rule.get("targetReplicatedJobs") or []
    text = str(job.failure.get("message") or "")
    return (
        (not reasons or job.failure.get("reason") in reasons)
        and (not patterns or any(_found(pattern, text) for pattern in patterns))
        and (not targets or job.role in targets)
    )


def _found(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False
