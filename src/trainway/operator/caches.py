"""What the operator keeps in memory of the objects that it watches, and how it looks them up.

Controllers share these informers, so what is kept is decided once, here. Of a JobSet only what its
status and its place say is kept; of ConfigMaps, Secrets and PodGroups only who they are and whose.
"""

from collections.abc import Iterable
from typing import Any, Final

from trainway.jobset.status import conditions_of
from trainway.jobset.trainjob_status import is_finished
from trainway.json_types import Json
from trainway.kube.informer import Informer
from trainway.kube.informers import Informers
from trainway.kube.owners import controller_of
from trainway.kube.resources import (
    CLUSTER_TRAINING_RUNTIMES,
    CONFIG_MAPS,
    EVENTS,
    JOBSETS,
    LIMIT_RANGES,
    OPTIMIZATION_JOBS,
    PRIORITY_CLASSES,
    RUNTIME_CLASSES,
    SECRETS,
    TRAINING_RUNTIMES,
    TRAINJOBS,
    Resource,
)
from trainway.operator.uncreated_pods import FIELD_SELECTOR, candidates, kept_event

OWN_KINDS: Final = frozenset({"TrainJob", "MPIJob"})
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
PHASES: Final = ("Complete", "Failed", "Suspended", "Running", "Pending")

BY_PHASE: Final = "phase"
SUSPENDED_BY_NAMESPACE: Final = "suspended-by-namespace"
SUSPENDED_BY_RUNTIME: Final = "suspended-by-runtime"
BY_RUNTIME_CLASS: Final = "runtime-class"
BY_JOB: Final = "job"
BY_OPTIMIZATION_JOB: Final = "optimization-job"

_CHILD_NAMES: Final = (
    *("-runtime-snapshot", "-mpi-hostfile", "-mpi-ssh-auth", "-flux-entrypoint", "-flux-curve"),
    *("-tls-config", "-ssh", "-config"),
)
_METADATA: Final = (
    *("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "labels", "ownerReferences"),
)
_JOBSET_STATUS: Final = ("conditions", "replicatedJobsStatus", "restarts", "terminalState")


def trainjobs(informers: Informers) -> Informer:
    """All TrainJobs; whole, but for what is not read."""
    indexers = {
        BY_PHASE: lambda job: (phase_of(job),),
        SUSPENDED_BY_NAMESPACE: _suspended_namespace,
        SUSPENDED_BY_RUNTIME: _suspended_runtime,
        BY_OPTIMIZATION_JOB: search_key,
    }
    return informers.of(TRAINJOBS, keep=kept_trainjob, indexers=indexers)


def runtimes(informers: Informers, resource: Resource) -> Informer:
    """The runtimes of one of the two kinds, whole: they are few."""
    return informers.of(resource, indexers={BY_RUNTIME_CLASS: runtime_class_names})


def jobsets(informers: Informers) -> Informer:
    """The JobSets that belong to jobs of ours, or stand in their place."""
    return informers.of(JOBSETS, keep=kept_jobset)


def config_maps(informers: Informers) -> Informer:
    """The ConfigMaps that belong to jobs of ours, or stand in their place."""
    return informers.of(CONFIG_MAPS, keep=kept_child, metadata_only=True)


def secrets(informers: Informers) -> Informer:
    """The Secrets that belong to jobs of ours, or stand in their place."""
    return informers.of(SECRETS, keep=kept_child, metadata_only=True)


def uncreated_pods(informers: Informers) -> Informer:
    """Events of Jobs that could not make a pod, by the jobs that they may be about."""
    return informers.of(
        EVENTS,
        keep=kept_event,
        field_selector=FIELD_SELECTOR,
        indexers={BY_JOB: candidates},
    )


def pod_groups(informers: Informers, resource: Resource) -> Informer:
    """The PodGroups of one of the two schedulers; only where the cluster has the kind."""
    return informers.of(resource, keep=kept_metadata, metadata_only=True)


def limit_ranges(informers: Informers) -> Informer:
    """The LimitRanges, of which only the change matters."""
    return informers.of(LIMIT_RANGES, keep=kept_metadata, metadata_only=True)


def runtime_classes(informers: Informers) -> Informer:
    """The RuntimeClasses, of which only the change matters."""
    return informers.of(RUNTIME_CLASSES, keep=kept_metadata, metadata_only=True)


def priority_classes(informers: Informers) -> Informer:
    """The PriorityClasses that there are, with what they are worth."""
    return informers.of(PRIORITY_CLASSES, keep=_kept_priority_class)


def kept_trainjob(job: Json) -> Json:
    """A TrainJob without the copy of itself that kubectl leaves."""
    metadata = {name: value for name, value in job["metadata"].items() if name != "managedFields"}
    annotations = metadata.get("annotations")
    if annotations:
        kept = {name: value for name, value in annotations.items() if name != LAST_APPLIED}
        metadata["annotations"] = kept
    return {**job, "metadata": metadata}


def kept_jobset(jobset: Json) -> Json:
    """Whose a JobSet is, how its Jobs are called, whether it is suspended, and how it stands."""
    kept = kept_metadata(jobset)
    spec = jobset.get("spec") or {}
    roles = [
        {"name": role["name"], "replicas": role.get("replicas", 1)}
        for role in spec.get("replicatedJobs") or []
    ]
    kept["spec"] = {"suspend": bool(spec.get("suspend")), "replicatedJobs": roles}
    status = jobset.get("status") or {}
    kept["status"] = {name: status[name] for name in _JOBSET_STATUS if name in status}
    return kept


def kept_child(obj: Json) -> Json | None:
    """An object that belongs to a job of ours, or is called as if it did."""
    owner = controller_of(obj)
    is_ours = owner is not None and owner.get("kind") in OWN_KINDS
    if is_ours or str(obj["metadata"]["name"]).endswith(_CHILD_NAMES):
        return kept_metadata(obj)
    return None


def kept_metadata(obj: Json) -> Json:
    """Who an object is, and whose."""
    metadata = obj["metadata"]
    kept = {name: metadata[name] for name in _METADATA if metadata.get(name)}
    return {"apiVersion": obj.get("apiVersion"), "kind": obj.get("kind"), "metadata": kept}


def _kept_priority_class(obj: Json) -> Json:
    return {**kept_metadata(obj), "value": obj.get("value", 0)}


def phase_of(job: Json) -> str:
    """In one word how a TrainJob stands, for counting."""
    conditions = conditions_of(job)
    true = {condition["type"] for condition in conditions if condition.get("status") == "True"}
    for phase in ("Complete", "Failed", "Suspended"):
        if phase in true:
            return phase
    return "Running" if all_ready((job.get("status") or {}).get("jobsStatus")) else "Pending"


def all_ready(jobs_status: list[Json] | None) -> bool:
    """Whether all pods are ready or done, as Kueue counts: nothing is still starting."""
    return bool(jobs_status) and all(
        item.get("ready", 0) + item.get("succeeded", 0) > 0 for item in jobs_status or ()
    )


def search_key(job: Json) -> Iterable[str]:
    """The key of the OptimizationJob whose trial a TrainJob is."""
    owner = controller_of(job)
    if owner is None or owner.get("kind") != OPTIMIZATION_JOBS.kind:
        return ()
    return (f"{job['metadata'].get('namespace', '')}/{owner['name']}",)


def runtime_key(job: Json) -> str:
    """The runtime of a TrainJob: kind and key."""
    ref = (job.get("spec") or {}).get("runtimeRef") or {}
    kind = ref.get("kind") or CLUSTER_TRAINING_RUNTIMES.kind
    namespace = f"{job['metadata'].get('namespace', '')}/" if kind == TRAINING_RUNTIMES.kind else ""
    return f"{kind}:{namespace}{ref.get('name', '')}"


def _is_held(job: Json) -> bool:
    suspend = bool((job.get("spec") or {}).get("suspend"))
    return suspend and not is_finished(conditions_of(job))


def _suspended_namespace(job: Json) -> Iterable[str]:
    return (job["metadata"].get("namespace", ""),) if _is_held(job) else ()


def _suspended_runtime(job: Json) -> Iterable[str]:
    return (runtime_key(job),) if _is_held(job) else ()


def runtime_class_names(runtime: Json) -> set[str]:
    """The RuntimeClasses that the pods of a runtime ask for."""
    value: Any = runtime
    for name in ("spec", "template", "spec"):
        value = value.get(name) or {}
    names = set()
    for job in value.get("replicatedJobs") or []:
        pod: Any = job
        for name in ("template", "spec", "template", "spec"):
            pod = pod.get(name) or {}
        if pod.get("runtimeClassName"):
            names.add(str(pod["runtimeClassName"]))
    return names
