"""A JobSet as plain Indexed Jobs and a headless Service, for clusters without JobSet. Pure.

The Jobs and their pods carry the labels and annotations that JobSet would give them, so that
programs find out who they are in the same way, and so do we. What needs a controller that watches
over the whole set is done by this backend while a server runs (`plain_status`), or is lost.
"""

import copy
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trainway.backends.kubernetes.plain_restarts import can_restart
from trainway.jobset.labels import EXCLUSIVE_TOPOLOGY, JOBSET_NAME, JOBSET_PREFIX, SUSPENDED
from trainway.jobset.model import ReplicatedJob, replicated_jobs
from trainway.json_types import Json

_GROUP: Final = "default"


def service_of(jobset: Json) -> Json:
    """The headless Service that gives the pods their names."""
    metadata, network = jobset["metadata"], jobset["spec"].get("network") or {}
    published = network.get("publishNotReadyAddresses")
    held = {"annotations": {SUSPENDED: "true"}} if jobset["spec"].get("suspend") else {}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": subdomain_of(jobset), **_namespace(metadata), **held},
        "spec": {
            "clusterIP": "None",
            "selector": {JOBSET_NAME: metadata["name"]},
            "publishNotReadyAddresses": True if published is None else bool(published),
        },
    }


def jobs_of(jobset: Json, uid: str) -> list[Json]:
    """The Jobs; those that wait for others are suspended, as all are where the JobSet is."""
    roles = list(replicated_jobs(jobset["spec"]))
    is_suspended = bool(jobset["spec"].get("suspend"))
    return [
        _job(jobset, uid, roles, role, index, is_suspended or must_wait(jobset["spec"], number))
        for number, role in enumerate(roles)
        for index in range(role.replicas)
    ]


def must_wait(spec: Json, number: int) -> bool:
    """Whether a role starts only after others."""
    policy = spec.get("startupPolicy") or {}
    if number and policy.get("startupPolicyOrder") == "InOrder":
        return True
    roles: Sequence[Json] = spec.get("replicatedJobs") or ()
    return bool(roles[number].get("dependsOn"))


def policy_of(spec: Json) -> Json:
    """What must be known of a JobSet to tell from its Jobs how it fares."""
    startup = spec.get("startupPolicy") or {}
    return {
        "roles": [
            {"name": role.name, "replicas": role.replicas, "dependsOn": role.depends_on}
            for role in replicated_jobs(spec)
        ],
        "inOrder": startup.get("startupPolicyOrder") == "InOrder",
        "successPolicy": spec.get("successPolicy") or {},
        "failurePolicy": spec.get("failurePolicy"),
    }


def losses(jobset: Json) -> list[str]:
    """What of a JobSet plain Jobs do not do, for its owner."""
    return [f"without JobSet in the cluster {text}" for text in _losses(jobset)]


def _losses(jobset: Json) -> Iterator[str]:
    spec = jobset["spec"]
    if can_restart(spec.get("failurePolicy")):
        yield "a failed job is restarted (spec.failurePolicy) only while a trainway server runs"
    waiting = spec.get("replicatedJobs") or ()
    if any(must_wait(spec, number) for number in range(len(waiting))):
        yield "roles start in order (dependsOn, startupPolicy) only while a trainway server runs"
    success = spec.get("successPolicy") or {}
    if success.get("operator") == "Any" or success.get("targetReplicatedJobs"):
        yield "spec.successPolicy ends the other roles only while a trainway server runs"
    if spec.get("volumeClaimPolicies"):
        yield "spec.volumeClaimPolicies make no claims"
    if EXCLUSIVE_TOPOLOGY in (jobset["metadata"].get("annotations") or {}):
        yield "jobs are not kept apart: exclusive-topology does nothing"


def unclaimed(jobset: Json) -> list[str]:
    """Volumes that containers mount and nobody makes: their pods could not be created."""
    claimed = {
        str((template.get("metadata") or {}).get("name"))
        for policy in jobset["spec"].get("volumeClaimPolicies") or ()
        for template in policy.get("templates") or ()
    }
    return [
        f"role {role.name} mounts the volume {name}, which only JobSet makes, and the cluster has"
        f" no JobSet: give the role a volume of that name"
        for role in replicated_jobs(jobset["spec"])
        for name in sorted(claimed - _volumes(role))
        if any(container.mounts(name) for container in role.pod.containers)
    ]


def _volumes(role: ReplicatedJob) -> set[str]:
    return {str(volume.get("name")) for volume in role.pod.spec.get("volumes") or ()}


def job_names(name: str, policy: Json) -> list[str]:
    """The names of all Jobs, as JobSet gives them."""
    return [
        f"{name}-{role['name']}-{index}"
        for role in policy["roles"]
        for index in range(role["replicas"])
    ]


def subdomain_of(jobset: Json) -> str:
    """The name of the headless Service."""
    network = jobset["spec"].get("network") or {}
    return str(network.get("subdomain") or jobset["metadata"]["name"])


def _job(
    jobset: Json,
    uid: str,
    roles: Sequence[ReplicatedJob],
    role: ReplicatedJob,
    index: int,
    is_suspended: bool,
) -> Json:
    metadata = jobset["metadata"]
    name = f"{metadata['name']}-{role.name}-{index}"
    given = role.data["template"].get("metadata") or {}
    common = _common(jobset, uid, roles, role, index, name)
    spec = copy.deepcopy(role.job_spec)
    spec.setdefault("completionMode", "Indexed")
    spec["suspend"] = is_suspended
    template = spec.setdefault("template", {})
    template["metadata"] = _marked(template.get("metadata") or {}, common)
    network = jobset["spec"].get("network") or {}
    if network.get("enableDNSHostnames") is not False:
        template["spec"]["subdomain"] = subdomain_of(jobset)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, **_namespace(metadata), **_marked(given, common)},
        "spec": spec,
    }


def _marked(metadata: Mapping[str, Any], common: Mapping[str, str]) -> Json:
    """Labels and annotations with JobSet's added to both."""
    return {part: {**(metadata.get(part) or {}), **common} for part in ("labels", "annotations")}


def _common(
    jobset: Json,
    uid: str,
    roles: Sequence[ReplicatedJob],
    role: ReplicatedJob,
    index: int,
    name: str,
) -> dict[str, str]:
    metadata, spec = jobset["metadata"], jobset["spec"]
    group_name = _group(role)
    group = [each for each in roles if _group(each) == group_name]
    key = f"{metadata.get('namespace') or 'default'}/{name}"
    values: dict[str, object] = {
        "jobset-name": metadata["name"],
        "jobset-uid": uid,
        "replicatedjob-name": role.name,
        "replicatedjob-replicas": role.replicas,
        "global-replicas": sum(each.replicas for each in roles),
        "restart-attempt": 0,
        "job-index": index,
        "job-key": hashlib.sha1(key.encode()).hexdigest(),  # noqa: S324 - as JobSet makes it
        "job-global-index": _before(roles, role) + index,
        "group-name": group_name,
        "group-replicas": sum(each.replicas for each in group),
        "job-group-index": _before(group, role) + index,
    }
    coordinator = spec.get("coordinator")
    if coordinator:
        job, pod = coordinator.get("jobIndex") or 0, coordinator.get("podIndex") or 0
        host = f"{metadata['name']}-{coordinator.get('replicatedJob')}-{job}-{pod}"
        values["coordinator"] = f"{host}.{subdomain_of(jobset)}"
    return {f"{JOBSET_PREFIX}{part}": str(value) for part, value in values.items()}


def _group(role: ReplicatedJob) -> str:
    return str(role.data.get("groupName") or _GROUP)


def _before(roles: Sequence[ReplicatedJob], role: ReplicatedJob) -> int:
    """How many Jobs there are of the roles before this one."""
    names = [each.name for each in roles]
    return sum(each.replicas for each in roles[: names.index(role.name)])


def _namespace(metadata: Mapping[str, Any]) -> Json:
    namespace = metadata.get("namespace")
    return {"namespace": namespace} if namespace else {}
