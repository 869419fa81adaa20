"""What JobSet's webhooks do with a JobSet: fill in defaults, refuse what cannot run or change.

The order is that of the API server: defaults of the schema, `with_webhook_defaults`, the schema's
own checks, then `validate_create` or `validate_update`, which count on a sound structure. JobSet
reports many of these errors without a field; here each has one. The alpha features RestartJob and
InPlaceRestart count as enabled, elastic JobSets do not. Whether a claim exists already is a matter
of the cluster and not looked at.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainway.jobset.model import Container, ReplicatedJob, replicated_jobs
from trainway.jobset.quantity import quantity_errors
from trainway.jobset.spec import JOBSET_SPEC, MAX_JOBS_RESTARTED_ALONE, RESTART_JOB_ACTIONS
from trainway.json_types import Json
from trainway.schema.field import (
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

_MAX_INT32 = 2**31 - 1
_MAX_LABEL = 63
_MAX_RULE_NAME = 128
_POD_SUFFIX = "-xxxxx"

_DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_DNS_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_DNS_PART}(\.{_DNS_PART})*", re.ASCII)
_DOMAIN_PATH = re.compile(rf"{_SUBDOMAIN.pattern}/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", re.ASCII)
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", re.ASCII)
_RULE_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", re.ASCII)

_DNS_LABEL_RULE = (
    f"must be at most {_MAX_LABEL} lower case letters, digits and '-', start with a letter and end"
    " with a letter or digit"
)

_FAILURE_REASONS = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)


def with_webhook_defaults(jobset: Json) -> Json:
    """A copy of the JobSet with what the webhook fills in on creation, be it valid or not."""
    filled = copy.deepcopy(jobset)
    spec = filled.get("spec")
    if not isinstance(spec, dict):
        return filled
    _fill(spec, "successPolicy", {"operator": "All"})
    _fill(spec, "startupPolicy", {"startupPolicyOrder": "AnyOrder"})
    network = _inner(spec, "network")
    _fill(network, "enableDNSHostnames", True)
    _fill(network, "publishNotReadyAddresses", True)
    for job in _objects(spec, "replicatedJobs"):
        job_spec = _inner(_inner(job, "template"), "spec")
        _fill(job_spec, "completionMode", "Indexed")
        pod_spec = _inner(_inner(job_spec, "template"), "spec")
        if not pod_spec.get("restartPolicy"):
            pod_spec["restartPolicy"] = "OnFailure"
    if isinstance(failure_policy := spec.get("failurePolicy"), dict):
        for index, rule in enumerate(_objects(failure_policy, "rules")):
            if not rule.get("name"):
                rule["name"] = f"failurePolicyRule{index}"
    for policy in _objects(spec, "volumeClaimPolicies"):
        _fill(policy, "retentionPolicy", {"whenDeleted": "Delete"})
    return filled


def _fill(data: Json, name: str, value: Any) -> None:
    if data.get(name) is None:
        data[name] = value


def _inner(data: Json, name: str) -> Json:
    """The object in a field, made if absent; one that is of no use where it is something else."""
    _fill(data, name, {})
    inner = data[name]
    return inner if isinstance(inner, dict) else {}


def _objects(data: Json, name: str) -> list[Json]:
    items = data.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _job_spec(job: ReplicatedJob) -> Json:
    return (job.data.get("template") or {}).get("spec") or {}


def _pod_template(job: ReplicatedJob) -> Json:
    return _job_spec(job).get("template") or {}


def _pod_spec(job: ReplicatedJob) -> Json:
    return _pod_template(job).get("spec") or {}


def validate_create(jobset: Json) -> list[FieldError]:
    """All that the webhook and the API server have against a new JobSet with its defaults."""
    return list(_create_errors(jobset))


def _create_errors(jobset: Json) -> Iterator[FieldError]:
    name = (jobset.get("metadata") or {}).get("name") or ""
    spec = jobset.get("spec") or {}
    jobs = list(replicated_jobs(spec))
    yield from _name_errors(jobset.get("metadata") or {})
    yield from _coordinator_errors(name, spec, jobs)
    yield from _failure_policy_errors(spec, jobs)
    yield from _managed_by_errors(spec)
    yield from _subdomain_errors(spec)
    for index, job in enumerate(jobs):
        path = ("spec", "replicatedJobs", index)
        yield from _job_errors(name, job, path)
        yield from _depends_on_errors(jobs, index, path)
        if (spec.get("failurePolicy") or {}).get("restartStrategy") == "InPlaceRestart":
            yield from _in_place_errors(_job_spec(job), (*path, "template", "spec"))
    success_policy = spec.get("successPolicy") or {}
    yield from _target_errors(success_policy, jobs, ("spec", "successPolicy"))
    yield from _claim_errors(name, spec, jobs)
    yield from quantity_errors(JOBSET_SPEC, spec, ("spec",))


def _name_errors(metadata: Mapping[str, Any]) -> Iterator[FieldError]:
    name = metadata.get("name")
    if name and not _is_dns_label(name):
        yield invalid(("metadata", "name"), name, _DNS_LABEL_RULE)
    elif not name and not metadata.get("generateName"):
        yield required(("metadata", "name"), "give the JobSet a name")


def _is_dns_label(name: str) -> bool:
    return len(name) <= _MAX_LABEL and _DNS_LABEL.fullmatch(name) is not None


def _coordinator_errors(name: str, spec: Json, jobs: list[ReplicatedJob]) -> Iterator[FieldError]:
    coordinator = spec.get("coordinator")
    if coordinator is None:
        return
    path = ("spec", "coordinator")
    role = coordinator["replicatedJob"]
    job_index, pod_index = coordinator.get("jobIndex") or 0, coordinator.get("podIndex") or 0
    job = next((job for job in jobs if job.name == role), None)
    if job is None:
        yield _no_such_job((*path, "replicatedJob"), role, jobs)
        return
    if not 0 <= job_index < job.replicas:
        yield invalid((*path, "jobIndex"), job_index, _index_rule(f"job {role}", job.replicas))
    completions = _job_spec(job).get("completions")
    if completions is None or _job_spec(job).get("completionMode") != "Indexed":
        detail = "must be a job with completionMode Indexed and completions set"
        yield invalid((*path, "replicatedJob"), role, detail)
    elif not 0 <= pod_index < completions:
        yield invalid((*path, "podIndex"), pod_index, _index_rule("its pods", completions))
    subdomain = (spec.get("network") or {}).get("subdomain") or name
    endpoint = f"{name}-{role}-{job_index}-{pod_index}.{subdomain}"
    if len(endpoint) > _MAX_LABEL or not _LABEL_VALUE.fullmatch(endpoint):
        detail = (
            f"the coordinator's address must be a label value of at most {_MAX_LABEL} characters:"
            " shorten the names of the JobSet, the job or the subdomain"
        )
        yield invalid(path, endpoint, detail)


def _index_rule(what: str, count: int) -> str:
    return f"must be an index of {what}: 0 to {count - 1}" if count > 0 else f"{what} has no index"


def _no_such_job(path: Path, name: str, jobs: list[ReplicatedJob]) -> FieldError:
    return not_supported(path, name, tuple(job.name for job in jobs))


def _failure_policy_errors(spec: Json, jobs: list[ReplicatedJob]) -> Iterator[FieldError]:
    rules = (spec.get("failurePolicy") or {}).get("rules") or []
    seen = set()
    for index, rule in enumerate(rules):
        path = ("spec", "failurePolicy", "rules", index)
        name = rule.get("name") or ""
        if not _RULE_NAME.fullmatch(name) or len(name) > _MAX_RULE_NAME:
            detail = (
                f"must be at most {_MAX_RULE_NAME} letters, digits, '_', ',' and ':', start with a"
                " letter and end with a letter, digit or '_'"
            )
            yield invalid((*path, "name"), name, detail)
        elif name in seen:
            yield duplicate((*path, "name"), name)
        seen.add(name)
        for place, reason in enumerate(rule.get("onJobFailureReasons") or []):
            if reason not in _FAILURE_REASONS:
                where = (*path, "onJobFailureReasons", place)
                yield not_supported(where, reason, _FAILURE_REASONS)
        yield from _target_errors(rule, jobs, path)
    if any(rule.get("action") in RESTART_JOB_ACTIONS for rule in rules):
        for index, job in enumerate(jobs):
            if job.replicas > MAX_JOBS_RESTARTED_ALONE:
                replicas = ("spec", "replicatedJobs", index, "replicas")
                detail = (
                    f"must be at most {MAX_JOBS_RESTARTED_ALONE} where a rule of the failure policy"
                    f" has the action {' or '.join(RESTART_JOB_ACTIONS)}"
                )
                yield invalid(replicas, job.replicas, detail)


def _target_errors(policy: Json, jobs: list[ReplicatedJob], path: Path) -> Iterator[FieldError]:
    names = {job.name for job in jobs}
    for index, name in enumerate(policy.get("targetReplicatedJobs") or []):
        if name not in names:
            yield _no_such_job((*path, "targetReplicatedJobs", index), name, jobs)


def _managed_by_errors(spec: Json) -> Iterator[FieldError]:
    manager = spec.get("managedBy")
    if manager is not None and not (_DOMAIN_PATH.fullmatch(manager) and len(manager) <= _MAX_LABEL):
        detail = f"must be a domain and a path of at most {_MAX_LABEL} characters: acme.io/foo"
        yield invalid(("spec", "managedBy"), manager, detail)


def _subdomain_errors(spec: Json) -> Iterator[FieldError]:
    subdomain = (spec.get("network") or {}).get("subdomain")
    if subdomain and not _is_dns_label(subdomain):
        yield invalid(("spec", "network", "subdomain"), subdomain, _DNS_LABEL_RULE)


def _job_errors(name: str, job: ReplicatedJob, path: Path) -> Iterator[FieldError]:
    group = job.data.get("groupName", "default")
    if not _is_dns_label(group):
        yield invalid((*path, "groupName"), group, _DNS_LABEL_RULE)
    pod_name = job_name = f"{name}-{job.name}-{job.replicas - 1}"
    completions = _job_spec(job).get("completions")
    if completions is not None and _job_spec(job).get("completionMode") == "Indexed":
        pod_name = f"{job_name}-{completions - 1}{_POD_SUFFIX}"
    # Told apart from a wrong name of the JobSet itself, which is reported once.
    if not _DNS_LABEL.fullmatch(f"x-{job.name}-0"):
        detail = "must be lower case letters, digits and '-': it becomes part of job names"
        yield invalid((*path, "name"), job.name, detail)
    elif len(pod_name) > _MAX_LABEL:
        what = "pods" if pod_name != job_name else "jobs"
        detail = (
            f'its {what} would have names such as "{pod_name}", longer than {_MAX_LABEL}'
            " characters: shorten the name of the JobSet or of the replicated job"
        )
        yield invalid((*path, "name"), job.name, detail)
    parallelism = _job_spec(job).get("parallelism")
    if job.replicas * (1 if parallelism is None else parallelism) > _MAX_INT32:
        detail = f"the product of replicas and parallelism must not exceed {_MAX_INT32}"
        yield invalid((*path, "replicas"), job.replicas, detail)


def _depends_on_errors(jobs: list[ReplicatedJob], index: int, path: Path) -> Iterator[FieldError]:
    if index == 0:
        if jobs[0].data.get("dependsOn") is not None:
            detail = "the first replicated job cannot depend on another one"
            yield forbidden((*path, "dependsOn"), detail)
        return
    before = [job.name for job in jobs[:index]]
    for place, dependency in enumerate(jobs[index].depends_on):
        if dependency["name"] not in before:
            where = (*path, "dependsOn", place, "name")
            detail = f"must be a replicated job that comes before this one: {', '.join(before)}"
            yield invalid(where, dependency["name"], detail)


def _in_place_errors(job_spec: Json, path: Path) -> Iterator[FieldError]:
    reason = "where the restart strategy is InPlaceRestart"
    if job_spec.get("backoffLimit") != _MAX_INT32:
        detail = f"must be {_MAX_INT32} {reason}"
        yield invalid((*path, "backoffLimit"), job_spec.get("backoffLimit"), detail)
    if job_spec.get("podReplacementPolicy") != "Failed":
        found = job_spec.get("podReplacementPolicy")
        yield invalid((*path, "podReplacementPolicy"), found, f"must be Failed {reason}")
    completions = job_spec.get("completions")
    if completions is None or completions != job_spec.get("parallelism"):
        detail = f"must be set and equal to parallelism {reason}"
        yield invalid((*path, "completions"), completions, detail)


def _claim_errors(name: str, spec: Json, jobs: list[ReplicatedJob]) -> Iterator[FieldError]:
    seen = set()
    for index, policy in enumerate(spec.get("volumeClaimPolicies") or []):
        for place, template in enumerate(policy.get("templates") or []):
            path = ("spec", "volumeClaimPolicies", index, "templates", place, "metadata", "name")
            claim = (template.get("metadata") or {}).get("name") or ""
            if claim in seen:
                yield duplicate(path, claim)
                continue
            seen.add(claim)
            if not _SUBDOMAIN.fullmatch(claim):
                detail = "must be lower case letters, digits, '-' and '.', as in a host name"
                yield invalid(path, claim, detail)
            elif len(f"{claim}-{name}") > _MAX_LABEL:
                detail = (
                    f'the claim "{claim}-{name}" is longer than {_MAX_LABEL} characters:'
                    " shorten its name"
                )
                yield invalid(path, claim, detail)
            yield from _claim_use_errors(claim, jobs, path)


def _claim_use_errors(claim: str, jobs: list[ReplicatedJob], path: Path) -> Iterator[FieldError]:
    mounted = False
    for index, job in enumerate(jobs):
        pod_path = ("spec", "replicatedJobs", index, "template", "spec", "template", "spec")
        for place, volume in enumerate(_pod_spec(job).get("volumes") or []):
            if volume.get("name") == claim:
                detail = "a volume claim policy adds a volume of this name: rename one of them"
                yield invalid((*pod_path, "volumes", place, "name"), claim, detail)
        for kind in ("initContainers", "containers"):
            containers = _pod_spec(job).get(kind) or []
            mounted = mounted or any(Container(item).mounts(claim) for item in containers)
    if not mounted:
        yield invalid(path, claim, f'no container mounts it: add a volume mount named "{claim}"')


def validate_update(old: Json, new: Json) -> list[FieldError]:
    """All that the webhook has against a change of a JobSet."""
    return list(_update_errors(old, new))


def _update_errors(old: Json, new: Json) -> Iterator[FieldError]:
    old_spec = with_webhook_defaults(old).get("spec") or {}
    new_spec = with_webhook_defaults(new).get("spec") or {}
    if old_spec.get("managedBy") != new_spec.get("managedBy"):
        yield forbidden(("spec", "managedBy"), "field is immutable")
    suspended = bool(old_spec.get("suspend") or new_spec.get("suspend"))
    old_jobs, new_jobs = list(replicated_jobs(old_spec)), list(replicated_jobs(new_spec))
    if [job.name for job in old_jobs] != [job.name for job in new_jobs]:
        detail = "jobs cannot be added, removed or reordered: create another JobSet"
        yield forbidden(("spec", "replicatedJobs"), detail)
        return
    for index, (before, after) in enumerate(zip(old_jobs, new_jobs, strict=True)):
        if _fixed_part(before, suspended=suspended) != _fixed_part(after, suspended=suspended):
            detail = (
                "field is immutable; only labels, annotations, nodeSelector, tolerations and"
                " schedulingGates of the pods of a suspended JobSet can change"
            )
            yield forbidden(("spec", "replicatedJobs", index), detail)


def _fixed_part(job: ReplicatedJob, *, suspended: bool) -> Json:
    """What of a replicated job may not change; Kueue sets the rest while nothing runs."""
    fixed = ReplicatedJob(copy.deepcopy(job.data))
    fixed.data.setdefault("groupName", "default")
    fixed.data.setdefault("replicas", 1)
    if suspended:
        metadata = _pod_template(fixed).get("metadata") or {}
        for name in ("labels", "annotations"):
            metadata.pop(name, None)
        for name in ("nodeSelector", "tolerations", "schedulingGates"):
            _pod_spec(fixed).pop(name, None)
    pruned: Json = _without_empty(fixed.data)
    return pruned


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        pruned = {name: _without_empty(item) for name, item in value.items()}
        return {name: item for name, item in pruned.items() if item not in (None, {}, [])}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value
