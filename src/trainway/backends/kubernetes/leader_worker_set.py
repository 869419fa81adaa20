"""A data cache as a LeaderWorkerSet, where a cluster has that. Pure.

It fits a cache better than a JobSet: all of its pods are replaced whenever they go, for as long as
it is wanted, at the name that they had. Its pods carry JobSet's labels, as plain Jobs do, so that
they are found in the same way; and since it is called as JobSet would call the head's Job, the head
has the same name in both. What it does not have is an end: a head that cannot read its table is
started again and again, and its pod says why.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from trainway.agent.controllers.jobset_rules import NO_COUNTS
from trainway.backends.kubernetes.pods import is_over, is_ready, place_of
from trainway.data.flight.contract import HEAD, WORKER
from trainway.jobset.labels import DATA_CACHE, JOB_INDEX, JOBSET_NAME, REPLICATED_JOB_NAME
from trainway.jobset.model import ReplicatedJob, replicated_jobs
from trainway.jobset.status import conditions_of, find_condition
from trainway.json_types import Json

API: Final = "leaderworkerset.x-k8s.io/v1"
KIND: Final = "LeaderWorkerSet"
_TOLD_OTHERWISE: Final = "--head"
"""Workers learn from a variable of LeaderWorkerSet where their head is."""


def is_group(jobset: Json) -> bool:
    """Whether a JobSet is a cache: one head, and workers that are all alike."""
    metadata = jobset.get("metadata") or {}
    if jobset.get("kind") != "JobSet" or DATA_CACHE not in (metadata.get("labels") or {}):
        return False
    roles = list(replicated_jobs(jobset["spec"]))
    if [role.name for role in roles] not in ([HEAD], [HEAD, WORKER]):
        return False
    return all(role.replicas == 1 for role in roles) and _pods(roles[0]) == 1


def group_of(jobset: Json) -> Json:
    """The LeaderWorkerSet; its first pod is the head, at the subdomain of its own name."""
    metadata = copy.deepcopy(jobset["metadata"])
    head, *workers = replicated_jobs(jobset["spec"])
    return {
        "apiVersion": API,
        "kind": KIND,
        "metadata": {
            **metadata,
            "name": f"{metadata['name']}-{HEAD}-0",
            "labels": {**metadata["labels"], JOBSET_NAME: metadata["name"]},
        },
        "spec": {
            "replicas": 0 if jobset["spec"].get("suspend") else 1,
            "leaderWorkerTemplate": {
                "size": 1 + sum(map(_pods, workers)),
                "restartPolicy": "None",  # a worker that is replaced loads its files again, alone
                "leaderTemplate": _template(metadata["name"], head),
                # It must have one, also where there are no workers.
                "workerTemplate": _template(metadata["name"], [head, *workers][-1]),
            },
        },
    }


def suspension(*, is_suspended: bool) -> Json:
    """The change that stops all pods, or has them made again."""
    return {"spec": {"replicas": 0 if is_suspended else 1}}


def status_of(top: Json, pods: Iterable[Json], before: Json) -> Json:
    """The status that a JobSet with these pods would have; `before` is the last one given."""
    spec = top.get("spec") or {}
    workers = int((spec.get("leaderWorkerTemplate") or {}).get("size") or 1) - 1
    is_suspended = spec.get("replicas") == 0
    there = list(pods)
    counts = [_counts(role, size, there) for role, size in ((HEAD, 1), (WORKER, workers)) if size]
    status: Json = {"restarts": 0, "replicatedJobsStatus": counts}
    known = find_condition(conditions_of({"status": before}), "Suspended")
    if not is_suspended and known is None:
        return status
    reason = "SuspendedJobs" if is_suspended else "ResumeJobs"
    message = f"jobset is {'suspended' if is_suspended else 'resumed'}"
    said = {"type": "Suspended", "status": str(is_suspended), "reason": reason, "message": message}
    time = (known or {}).get("lastTransitionTime") or top["metadata"].get("creationTimestamp") or ""
    return {**status, "conditions": [{**said, "lastTransitionTime": time}]}


def _counts(role: str, size: int, pods: Sequence[Json]) -> Json:
    """In which of the numbers of JobSet's status a role counts, which would be one Job."""
    mine = [pod for pod in pods if (place := place_of(pod)) is not None and place.role == role]
    ready, active = sum(map(is_ready, mine)), any(not is_over(pod) for pod in mine)
    return {"name": role, **NO_COUNTS, "ready": int(ready >= size), "active": int(active)}


def _template(name: str, role: ReplicatedJob) -> Json:
    given: Mapping[str, Any] = role.job_spec["template"]
    template = copy.deepcopy(dict(given))
    labels = {JOBSET_NAME: name, REPLICATED_JOB_NAME: role.name, JOB_INDEX: "0"}
    metadata = template.get("metadata") or {}
    template["metadata"] = {**metadata, "labels": {**(metadata.get("labels") or {}), **labels}}
    template["spec"].pop("restartPolicy", None)  # it is always the same here
    for container in template["spec"]["containers"]:
        if "command" in container:
            container["command"] = _without_head(container["command"])
    return template


def _pods(role: ReplicatedJob) -> int:
    return int(role.job_spec.get("parallelism") or 1)


def _without_head(words: Sequence[str]) -> list[str]:
    if _TOLD_OTHERWISE not in words:
        return list(words)
    place = words.index(_TOLD_OTHERWISE)
    return [*words[:place], *words[place + 2 :]]
