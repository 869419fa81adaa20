"""What the pods of a job say about it: which one of the gang each is, and how it fares. Pure.

A gang's pod has one place; over its life several pods may take it, one after the other. Only the
newest counts.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainway.backends.kubernetes.pod_reasons import condition_of, reason_of, why_sick
from trainway.backends.kubernetes.usage.memory_limits import (
    OOM_KILLED,
    limits_of,
    memory_limit,
    out_of_memory,
)
from trainway.jobset.labels import (
    COMPLETION_INDEX,
    DEFAULT_CONTAINER,
    JOB_INDEX,
    JOBSET_NAME,
    LWS_WORKER_INDEX,
    MPI_JOB_NAME,
    MPI_JOB_ROLE,
    MPI_REPLICA_INDEX,
    REPLICATED_JOB_NAME,
    RESTART_ATTEMPT,
)
from trainway.jobset.status import conditions_of, find_true
from trainway.json_types import Json
from trainway.kube.container_start import started_at

if TYPE_CHECKING:
    from trainway.agent.base.records import ContainerRecord, PodRecord

_NOTED: Final = (COMPLETION_INDEX, DEFAULT_CONTAINER)
"""The annotations that matter."""
_OVER: Final = ("Succeeded", "Failed")

HOLDER: Final = "trainway-holder"
"""The container of ours that holds a pod until its output was brought, and says nothing."""

Age = tuple[str, int, bool, str]
"""The age of a pod: of two pods the one with the larger age is newer."""


class Place(NamedTuple):
    """Which pod of the gang, and in which attempt."""

    role: str
    job: int
    rank: int
    attempt: int = 0

    @property
    def key(self) -> str:
        """`<role>-<job>-<pod>`, as the engine names it."""
        return f"{self.role}-{self.job}-{self.rank}"


def place_of(pod: Mapping[str, Any]) -> Place | None:
    """The place of a pod; None: it is no pod of a job."""
    metadata = pod.get("metadata") or {}
    labels = metadata.get("labels") or {}
    annotations = metadata.get("annotations") or {}
    rank = labels.get(COMPLETION_INDEX) or annotations.get(COMPLETION_INDEX) or "0"
    try:
        if LWS_WORKER_INDEX in labels and REPLICATED_JOB_NAME in labels:
            index = int(labels[LWS_WORKER_INDEX])  # the head has 0, and the first worker 1
            return Place(labels[REPLICATED_JOB_NAME], 0, max(0, index - 1))
        if REPLICATED_JOB_NAME in labels:
            attempt = int(labels.get(RESTART_ATTEMPT) or 0)
            return Place(
                labels[REPLICATED_JOB_NAME], int(labels.get(JOB_INDEX) or 0), int(rank), attempt
            )
        if MPI_JOB_ROLE in labels:
            return Place(labels[MPI_JOB_ROLE], 0, int(labels.get(MPI_REPLICA_INDEX) or rank))
    except ValueError:
        pass
    return None


def gang_of(pod: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the JobSet or MPIJob that a pod belongs to, for an index."""
    labels = (pod.get("metadata") or {}).get("labels") or {}
    name = labels.get(JOBSET_NAME) or labels.get(MPI_JOB_NAME)
    return (str(name),) if name else ()


def newest(pods: Iterable[Json]) -> dict[str, Json]:
    """The pod that has each place now, by the place's key."""
    found: dict[str, Json] = {}
    for pod in sorted(pods, key=age_of):
        place = place_of(pod)
        if place is not None:
            found[place.key] = pod
    return found


def is_over(pod: Mapping[str, Any]) -> bool:
    """Whether none of its containers runs any more or ever will."""
    return (pod.get("status") or {}).get("phase") in _OVER


def record_of(pod: Json) -> Json:
    """The journal record of a pod, without number and time."""
    place = place_of(pod)
    assert place is not None  # noqa: S101 - only pods with a place come here
    status = pod.get("status") or {}
    disruption = condition_of(status, "DisruptionTarget", "True")
    limits = limits_of(pod.get("spec") or {})
    reason, message = reason_of(status, disruption, limits)
    record: PodRecord = {
        "type": "pod",
        "pod": place.key,
        "attempt": place.attempt,
        "name": pod["metadata"]["name"],
        "created": pod["metadata"].get("creationTimestamp") or "",
        "phase": _phase(status, disruption),
        "ready": is_ready(pod),
        "containers": [
            _container(item, limits)
            for item in status.get("containerStatuses") or ()
            if item["name"] != HOLDER
        ],
    }
    if node := (pod.get("spec") or {}).get("nodeName"):
        record["node"] = node
    if reason:
        record["reason"] = reason
    if message:
        record["message"] = message
    if "deletionTimestamp" in pod["metadata"]:
        record["deleted"] = True
    if disruption:
        record["disrupted"] = True
    return dict(record)


def _phase(status: Json, disruption: Json) -> str:
    """Its phase; a pod that was taken away has not succeeded, however its program then ended.

    A program that ends well when it is told to end has saved its work, and not done it. One on a
    sick node has failed even if its kubelet would check that node again.
    """
    phase = str(status.get("phase") or "Pending")
    is_taken = phase == "Succeeded" and bool(disruption)
    return "Failed" if is_taken or why_sick(status) else phase


def kept(pod: Json) -> Json:
    """A pod without what nobody asks for: most of its spec, and labels that stand there twice."""
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    annotations = metadata.get("annotations") or {}
    noted = {name: annotations[name] for name in _NOTED if name in annotations}
    names = ("nodeName", "restartPolicy", "schedulingGates", "terminationGracePeriodSeconds")
    slim = {name: spec[name] for name in names if name in spec}
    for part in ("initContainers", "containers"):
        if part in spec:
            slim[part] = [_kept_container(each) for each in spec[part]]
    return {**pod, "metadata": {**metadata, "annotations": noted}, "spec": slim}


def _kept_container(container: Json) -> Json:
    memory = memory_limit(container)
    limits = {"resources": {"limits": {"memory": memory}}} if memory else {}
    return {"name": container["name"], "image": container.get("image"), **limits}


def lost_record(record: Json) -> Json:
    """The record of a pod that was removed before it was seen to end."""
    reason = record["reason"] if record.get("disrupted") else "Deleted"
    return record | {"phase": "Failed", "ready": False, "reason": reason}


def age_of(pod: Json) -> Age:
    """Who was made later is newer; a queue may have a gang begin anew, with attempt 0."""
    place, metadata = place_of(pod), pod["metadata"]
    attempt = 0 if place is None else place.attempt
    is_staying = "deletionTimestamp" not in metadata
    return metadata.get("creationTimestamp") or "", attempt, is_staying, metadata["name"]


def longest_grace(pods: Iterable[Json]) -> float:
    """How long pods have at most to end by themselves."""
    graces = [pod["spec"].get("terminationGracePeriodSeconds") for pod in pods]
    return float(max((30 if grace is None else grace for grace in graces), default=0))


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Whether it says that it can do its work."""
    return find_true(conditions_of(pod), "Ready") is not None


def _container(status: Json, limits: Mapping[str, int]) -> "ContainerRecord":
    """One container: how often it ran, since when, and how it ended."""
    state = status.get("state") or {}
    ended, running = state.get("terminated"), state.get("running") or {}
    before = (status.get("lastState") or {}).get("terminated") or {}
    container: ContainerRecord = {
        "name": status["name"],
        "state": next(iter(state), "waiting"),
        "restarts": int(status.get("restartCount") or 0),
    }
    begin = started_at(ended or running or before)
    if begin:
        container["startedAt"] = begin
    if ended is not None:
        container["exitCode"] = int(ended.get("exitCode") or 0)
        if ended.get("message"):
            container["message"] = ended["message"]
        if ended.get("reason"):
            container["reason"] = ended["reason"]
    if before:
        texts = {name: before[name] for name in ("reason", "message") if before.get(name)}
        if before.get("reason") == OOM_KILLED:
            texts["message"] = out_of_memory(limits.get(status["name"], 0))
        container["lastState"] = {"exitCode": int(before.get("exitCode") or 0), **texts}
    return container
