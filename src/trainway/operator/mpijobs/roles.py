"""The Jobs and pods of an MPIJob's two roles: what is kept of them, and what they tell.

JobSet makes one Job per role. Both Jobs and pods carry the uid of their JobSet, so what is left of
an earlier one of the same name does not count.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from trainway.compiler.mpijob import LAUNCHER, WORKER
from trainway.jobset.labels import COMPLETION_INDEX, JOBSET_UID, MPI_JOB_NAME, MPI_JOB_ROLE
from trainway.jobset.mpijob_status import Failure, PodFacts
from trainway.jobset.status import conditions_of, find_true
from trainway.json_types import Json
from trainway.operator.mpijobs.span import Span, share_a_moment, span_of

_LABELS: Final = (MPI_JOB_NAME, MPI_JOB_ROLE, JOBSET_UID, COMPLETION_INDEX)
_METADATA: Final = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp")
_LONGEST_MESSAGE: Final = 1024


@dataclass(frozen=True, slots=True)
class Roles:
    """What runs for one MPIJob."""

    launcher: Json | None = None
    """The launcher's Job."""
    worker: Json | None = None
    """The Job of all workers."""
    launcher_pods: tuple[Json, ...] = ()
    worker_pods: tuple[Json, ...] = ()

    @property
    def launcher_ended(self) -> bool:
        """Whether the launcher's Job has completed or failed."""
        return _ended(self.launcher)


def kept_pod(pod: Json) -> Json:
    """What of a pod the status of its job depends on."""
    status = pod.get("status") or {}
    kept = _chosen(status, ("phase", "reason", "startTime"))
    if "message" in status:
        kept["message"] = status["message"][:_LONGEST_MESSAGE]
    span = span_of(status)
    return {"metadata": _kept_metadata(pod), "status": kept} | ({"span": span} if span else {})


def kept_job(job: Json) -> Json:
    """What of a Job the status of its MPIJob depends on."""
    spec, status = job.get("spec") or {}, job.get("status") or {}
    return {
        "metadata": _kept_metadata(job),
        "spec": _chosen(spec, ("parallelism", "completions", "suspend")),
        "status": _chosen(status, ("conditions", "failed", "completionTime")),
    }


def owner_key(obj: Json) -> list[str]:
    """The key of the MPIJob that a Job or pod belongs to, as an index has it."""
    metadata = obj["metadata"]
    name = (metadata.get("labels") or {}).get(MPI_JOB_NAME)
    return [f"{metadata['namespace']}/{name}"] if name else []


def roles_of(jobset: Json | None, jobs: Iterable[Json], pods: Iterable[Json]) -> Roles:
    """Sort what there is by role; nothing counts without a JobSet."""
    if jobset is None:
        return Roles()
    uid = jobset["metadata"]["uid"]
    job_of = {_label(job, MPI_JOB_ROLE): job for job in jobs if _label(job, JOBSET_UID) == uid}
    current = [pod for pod in pods if _label(pod, JOBSET_UID) == uid]
    return Roles(
        launcher=job_of.get(LAUNCHER),
        worker=job_of.get(WORKER),
        launcher_pods=tuple(pod for pod in current if _label(pod, MPI_JOB_ROLE) == LAUNCHER),
        worker_pods=tuple(pod for pod in current if _label(pod, MPI_JOB_ROLE) == WORKER),
    )


def pod_facts(roles: Roles, workers: int) -> PodFacts:
    """What the status is made from; `workers` is how many are wanted."""
    job_status = (roles.launcher or {}).get("status") or {}
    failed = find_true(conditions_of(roles.launcher), "Failed")
    return PodFacts(
        launcher_exists=roles.launcher is not None,
        launcher_running=_count(roles.launcher_pods, "Running"),
        launcher_failed=job_status.get("failed") or 0,
        launcher_completion_time=job_status.get("completionTime") or "",
        launcher_failure=_failure(failed) if failed else None,
        last_failed_launcher_pod=_last_failure(roles.launcher_pods),
        workers_running=_count(roles.worker_pods, "Running"),
        workers_succeeded=_count(roles.worker_pods, "Succeeded"),
        workers_failed=_count(roles.worker_pods, "Failed"),
        workers_evicted=sum(
            _phase(pod) == "Failed" and pod["status"].get("reason") == "Evicted"
            for pod in roles.worker_pods
        ),
        ran_together=ran_together(roles, workers),
    )


def ran_together(roles: Roles, workers: int) -> bool:
    """Whether the launcher and all workers ran at the same time, be it for a moment."""
    spans: dict[str, list[Span]] = {}
    for pod in (*roles.launcher_pods, *roles.worker_pods):
        member = f"{_label(pod, MPI_JOB_ROLE)} {_label(pod, COMPLETION_INDEX)}"
        if "span" in pod:
            spans.setdefault(member, []).append(pod["span"])
    if len(roles.worker_pods) < workers:
        return False  # one is missing, so that nothing need be listed
    wanted = [f"{LAUNCHER} 0", *(f"{WORKER} {index}" for index in range(workers))]
    return share_a_moment([spans.get(member, []) for member in wanted])


def running_workers(roles: Roles) -> frozenset[int]:
    """The indexes of workers that run and are not about to stop."""
    return frozenset(
        int(_label(pod, COMPLETION_INDEX) or 0)
        for pod in roles.worker_pods
        if _phase(pod) == "Running" and "deletionTimestamp" not in pod["metadata"]
    )


def finished_workers(roles: Roles) -> list[Json]:
    """Worker pods that ended by themselves and are still there."""
    return [
        pod
        for pod in roles.worker_pods
        if _phase(pod) in ("Succeeded", "Failed") and "deletionTimestamp" not in pod["metadata"]
    ]


def scaling(roles: Roles, workers: int) -> Json | None:
    """The change that gives the workers' Job that many pods; None: it has them, or takes none.

    Both numbers change together: then Kubernetes scales a Job with indexes, from its end.
    """
    job = roles.worker
    if job is None or "deletionTimestamp" in job["metadata"] or _ended(job):
        return None
    if job["spec"].get("completions") == job["spec"].get("parallelism") == workers:
        return None
    return {"spec": {"parallelism": workers, "completions": workers}}


def _ended(job: Json | None) -> bool:
    return any(find_true(conditions_of(job), end) for end in ("Complete", "Failed"))


def _kept_metadata(obj: Json) -> Json:
    metadata = obj["metadata"]
    labels = _chosen(metadata.get("labels") or {}, _LABELS)
    return _chosen(metadata, _METADATA) | {"labels": labels}


def _chosen(data: Json, names: Iterable[str]) -> Json:
    return {name: data[name] for name in names if name in data}


def _label(obj: Json, name: str) -> str:
    return str(obj["metadata"]["labels"].get(name, ""))


def _phase(pod: Json) -> str:
    return str(pod["status"].get("phase", ""))


def _count(pods: Iterable[Json], phase: str) -> int:
    return sum(_phase(pod) == phase for pod in pods)


def _failure(told: Json) -> Failure:
    return Failure(told.get("reason") or "", told.get("message") or "")


def _last_failure(pods: Iterable[Json]) -> Failure | None:
    failed = [pod for pod in pods if _phase(pod) == "Failed"]
    if not failed:
        return None
    last = max(failed, key=lambda pod: str(pod["metadata"].get("creationTimestamp", "")))
    return _failure(last["status"])
