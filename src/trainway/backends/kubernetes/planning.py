"""A job as the objects that are sent for it, in their order. Pure: nothing is asked or sent.

Companions go first, so that pods find what they read. The top object owns all the others, so that
removing it leaves nothing; who owns what is written when the top object has its uid.
"""

import copy
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainway.api.timeout import timeout_of
from trainway.backends.base import Handle, Workload
from trainway.backends.handles import KubernetesHandle
from trainway.backends.kubernetes import (
    continuation,
    files,
    held_output,
    leader_worker_set,
    node_check,
    plain_jobs,
    variables,
)
from trainway.backends.kubernetes.form import KUEUE_API, Form, Offer, choose
from trainway.backends.kubernetes.plain_restarts import can_restart
from trainway.backends.kubernetes.sites import POD, Infra
from trainway.backends.masking import masked_object
from trainway.compiler.mpi_workers import replaceable
from trainway.jobset.labels import JOB_ID, KUEUE_PREFIX, KUEUE_QUEUE_NAME, MIN_NODES
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json

_COMPANIONS: Final = ("ConfigMap", "Secret", "TrainingRuntime")
_LEFT_BEHIND: Final = ("jobs", "services", "configmaps", "secrets")
"""What a job may have in a cluster beside its top object, as kubectl names it."""
STAYS: Final = (
    "an operator of the cluster makes its pods, and what it writes is deleted with them; submitted"
    " with the annotation trainway.dev/kubernetes-form: jobset it could move"
)
"""Why a job cannot leave that was sent as it was written, and has no volume for its output."""
_TOPS: Final[Mapping[Form, Callable[[Json], Json]]] = {
    Form.JOBSET: lambda jobset: jobset,
    Form.GROUP: leader_worker_set.group_of,
    Form.JOBS: plain_jobs.service_of,
}
"""What a JobSet is sent as."""
_KEPT: Final = ("name", "namespace", "labels", "annotations")
"""The fields of an object's metadata that are its author's."""


@dataclass(frozen=True)
class KubernetesRequest:
    """What is sent for one job."""

    handle: Handle
    companions: tuple[Json, ...]
    """ConfigMaps, Secrets and runtimes; the top object will own them."""
    top: Json
    children: tuple[Json, ...] = ()
    """What is made after the top object, and owned by it."""
    archive: bytes | None = None
    """A tar of files that are too large for an object and go straight to the pods."""

    @property
    def objects(self) -> list[Json]:
        """All of them, in the order in which they are sent."""
        return [*self.companions, self.top, *self.children]

    @property
    def brings_runtime(self) -> bool:
        """Whether the job's runtime is not in the cluster yet."""
        return any(obj["kind"] == "TrainingRuntime" for obj in self.companions)

    def text(self) -> str:
        """The objects as JSON, without the values of Secrets."""
        shown = [masked_object(obj) for obj in self.objects]
        return json.dumps(shown, indent=2, ensure_ascii=False)


def plan(
    workload: Workload,
    infra: Infra,
    offer: Offer,
    forced: str = "",
    avoided: Collection[str] = (),
) -> KubernetesRequest:
    """The request for a workload; a workload with a handle keeps to what that says.

    Its pods do not go to nodes that are `avoided`, unless an operator makes them.
    """
    source = workload.source or workload.jobset
    known = workload.handle
    form = Form(known["form"]) if known else chosen_form(workload, offer, forced)
    continues = bool(known.get("continues")) if known else workload.continues
    is_held = bool(known.get("held")) if known else held_output.wants_output(source)
    has_output = bool(known.get("output")) if known else _has_output(workload, form, offer)
    companions = workload.submitted if form is Form.SOURCE else workload.objects
    children: list[Json] = []
    archive: bytes | None = None
    told = variables.Told(workload.id, workload.name)
    if form is Form.SOURCE:
        top = variables.in_source(source, told, has_output=has_output)
    else:
        jobset = _limited(_queued(replaceable(workload.jobset), source), source)
        jobset = variables.in_jobset(jobset, told)
        jobset = held_output.holding(jobset) if is_held else jobset
        jobset = continuation.awaiting(jobset) if continues or is_held else jobset
        jobset = node_check.keeping_off(jobset, avoided)
        jobset = node_check.checking(jobset) if node_check.is_wanted(source, jobset) else jobset
        sent = files.planned(companions, jobset)
        companions, jobset, archive = sent.objects, sent.jobset, sent.archive
        top = _TOPS[form](jobset)
        if form is Form.JOBS:
            children = plain_jobs.jobs_of(jobset, workload.id)
    sealed = _Seal(workload.id, known.get("namespace") or workload.namespace)
    top = sealed(top)
    handle: KubernetesHandle = {
        "id": workload.id,
        "port": workload.port,
        "directory": "",
        "kubeconfig": list(infra.kubeconfig),
        "context": infra.context,
        "namespace": top["metadata"]["namespace"],
        "name": workload.name,
        "form": str(form),
        "kind": top["kind"],
        "top": top["metadata"]["name"],
        "roles": {role.name: role.replicas for role in replicated_jobs(workload.jobset["spec"])},
    }
    if offer.serves(KUEUE_API) and _names_queue([top]):
        handle["queue"] = top["metadata"]["labels"][KUEUE_QUEUE_NAME]
    if form is Form.JOBS:
        handle["policy"] = plain_jobs.policy_of(workload.jobset["spec"])
        if can_restart(workload.jobset["spec"].get("failurePolicy")):
            handle["jobs"] = [sealed(obj) for obj in children]
    if continues:
        handle["continues"] = True
    success = workload.jobset["spec"].get("successPolicy") or {}
    if needed := success.get("targetReplicatedJobs"):
        handle["needed"] = list(needed)
    if is_held:
        handle["held"] = True
    if has_output:
        handle["output"] = True
    if elastic := _elastic(workload.jobset):
        handle["elastic"] = elastic
    if form is Form.SOURCE and top["kind"] == "TrainJob":
        handle["deadline"] = "operator"
    return KubernetesRequest(
        handle=dict(known) or dict(handle),
        companions=tuple(sealed(obj) for obj in companions if obj.get("kind") in _COMPANIONS),
        top=top,
        children=tuple(sealed(obj) for obj in children),
        archive=archive,
    )


def _has_output(workload: Workload, form: Form, offer: Offer) -> bool:
    """Whether a job that is sent as it was written has a volume for its output.

    Only an operator of ours is known to follow the patch for it, as it is to follow annotations.
    """
    is_followed = form is Form.SOURCE and bool(offer.annotations)
    source = workload.source or workload.jobset
    return is_followed and variables.takes_output(source, workload.jobset)


def _elastic(jobset: Json) -> dict[str, int]:
    """The roles that may do with fewer nodes, and how many each has at most."""
    return {
        role.name: int(role.job_spec.get("parallelism") or 1)
        for role in replicated_jobs(jobset["spec"])
        if MIN_NODES
        in (((role.data.get("template") or {}).get("metadata") or {}).get("annotations") or {})
    }


def chosen_form(workload: Workload, offer: Offer, forced: str = "") -> Form:
    """As what a workload is sent: at most as a JobSet if its pods have to wait for something."""
    form = choose(workload.source or workload.jobset, workload.submitted, offer, forced)
    is_held = held_output.wants_output(workload.source or workload.jobset)
    has_to_wait = workload.continues or is_held or files.is_too_large(workload.objects)
    has_to_wait |= node_check.is_wanted(workload.source or workload.jobset, workload.jobset)
    if form is Form.SOURCE and has_to_wait:
        return choose(workload.source or workload.jobset, workload.submitted, offer, Form.JOBSET)
    return form


def remains(handle: Handle) -> str:
    """What a cluster that does not answer may still have of a job, and how that is removed."""
    kinds = dict.fromkeys((f"{handle['kind'].lower()}s", *_LEFT_BEHIND))
    context = "" if handle["context"] == POD else f"--context {handle['context']} "
    return (
        f"the cluster may still have it; once it answers: kubectl {context}-n {handle['namespace']}"
        f" delete {','.join(kinds)} -l {JOB_ID}={handle['id']}"
    )


def owned(obj: Json, top: Mapping[str, Any]) -> Json:
    """The object as the top one's own, which is not gone before this one is."""
    reference = owner_of(top) | {"blockOwnerDeletion": True}
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": [reference]}}


def owner_of(top: Mapping[str, Any]) -> Json:
    """What those carry that go when the top object has gone."""
    return {
        "apiVersion": top["apiVersion"],
        "kind": top["kind"],
        "name": top["metadata"]["name"],
        "uid": top["metadata"]["uid"],
    }


@dataclass(frozen=True)
class _Seal:
    """Puts our label on objects, and takes off what only a cluster may write."""

    job_id: str
    namespace: str

    def __call__(self, obj: Json) -> Json:
        given = obj["metadata"]
        metadata = {name: copy.deepcopy(given[name]) for name in _KEPT if given.get(name)}
        metadata["namespace"] = self.namespace
        metadata["labels"] = {**(given.get("labels") or {}), JOB_ID: self.job_id}
        rest = {name: value for name, value in obj.items() if name not in ("metadata", "status")}
        head = {name: rest.pop(name) for name in ("apiVersion", "kind")}
        return {**head, "metadata": metadata, **copy.deepcopy(rest)}


def _queued(jobset: Json, source: Json) -> Json:
    """The JobSet with what its source says about queues."""
    if source.get("kind") == jobset.get("kind"):
        return jobset
    metadata = dict(jobset["metadata"])
    for part in ("labels", "annotations"):
        found = _of_queues((source.get("metadata") or {}).get(part) or {})
        if found:
            metadata[part] = {**(metadata.get(part) or {}), **found}
    return {**jobset, "metadata": metadata}


def _limited(jobset: Json, source: Json) -> Json:
    """The JobSet whose Jobs end with the job's timeout, should nobody be there to end it."""
    seconds = timeout_of(source)
    if seconds is None:
        return jobset
    limited = copy.deepcopy(jobset)
    for role in limited["spec"]["replicatedJobs"]:
        role["template"]["spec"].setdefault("activeDeadlineSeconds", seconds)
    return limited


def _of_queues(entries: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in entries.items() if name.startswith(KUEUE_PREFIX)}


def without_image(jobset: Json) -> list[str]:
    """The containers that cannot start, since nobody says from which image."""
    return [
        f"container {container['name']} of {role.name} has no image, and a pod needs one: --image"
        for role in replicated_jobs(jobset["spec"])
        for container in role.pod.spec["containers"]
        if not container.get("image")
    ]


def losses(jobset: Json, source: Json) -> list[str]:
    """What plain Jobs do not do, for the owner of a job."""
    lost = plain_jobs.losses(jobset)
    if _names_queue((jobset, source)):
        lost.append(f"without JobSet in the cluster the label {KUEUE_QUEUE_NAME} does nothing")
    return lost


def _names_queue(objects: Iterable[Json]) -> bool:
    return any(
        KUEUE_QUEUE_NAME in ((obj.get("metadata") or {}).get("labels") or {}) for obj in objects
    )
