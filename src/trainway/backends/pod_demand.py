"""What each pod of a gang needs, for whoever places them one by one. Pure.

Pods beyond a Job's parallelism run after others have ended, and need nothing of their own. A
fraction of a GPU, which Kubernetes does not know, stands in the annotation that the compiler of
tasks writes.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trainway.backends.demand import pod_keys
from trainway.backends.gpu_types import accelerators_of
from trainway.compiler.devices import is_gpu
from trainway.jobset.model import ReplicatedJob, replicated_jobs
from trainway.jobset.quantity import ZERO, Quantity
from trainway.jobset.requests import pod_requests

if TYPE_CHECKING:
    from trainway.agent.base.plan_document import PodDemand


def pod_demands(
    jobset: Mapping[str, Any], apart: Mapping[str, str] | None = None
) -> "list[PodDemand]":
    """For every pod its CPUs, bytes of memory and GPUs.

    `apart` has a word for roles: pods with the same one that run at the same time share no node.
    """
    words = apart or {}
    fractions = _fractions(jobset.get("metadata") or {})
    return [
        item
        for job in replicated_jobs(jobset["spec"])
        for item in _of_role(job, fractions.get(job.name), words.get(job.name, ""))
    ]


def _of_role(job: ReplicatedJob, fraction: float | None, apart: str) -> "Iterator[PodDemand]":
    requests = pod_requests(job.pod.spec)
    gpus: float = sum(amount.ceil() for name, amount in requests.items() if is_gpu(name))
    cpus, memory = _number(requests.get("cpu", ZERO)), requests.get("memory", ZERO).ceil()
    gpus = fraction if gpus and fraction is not None else gpus
    parallelism = job.job_spec.get("parallelism")
    at_once = 1 if parallelism is None else int(parallelism)
    for key in pod_keys(job):
        if int(key.rpartition("-")[2]) >= at_once:
            yield {"pod": key, "cpus": 0, "memory": 0, "gpus": 0}
            continue
        needs: PodDemand = {"pod": key, "cpus": cpus, "memory": memory, "gpus": gpus}
        if apart:
            needs["apart"] = apart
        yield needs


def _fractions(metadata: Mapping[str, Any]) -> dict[str, float]:
    """The roles whose task asks for a part of a GPU."""
    named = accelerators_of(metadata)
    return {role: one.count for role, one in named.items() if one.count < 1}


def _number(amount: Quantity) -> float:
    whole = amount.ceil()
    return whole if Quantity.parse(whole) == amount else amount.nanos / 10**9
