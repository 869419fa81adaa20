"""What each pod of a gang needs, for whoever places them one by one. Pure.

Pods beyond a Job's parallelism run after others have ended, and need nothing of their own. A
fraction of a GPU, which Kubernetes does not know, stands in the annotation that the compiler of
tasks writes.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainway.api import accelerators
from trainway.backends.demand import pod_keys
from trainway.compiler.devices import is_gpu
from trainway.jobset.labels import CANDIDATES
from trainway.jobset.model import ReplicatedJob, replicated_jobs
from trainway.jobset.quantity import ZERO, Quantity
from trainway.jobset.requests import pod_requests
from trainway.json_types import Json


def pod_demands(jobset: Mapping[str, Any], apart: Mapping[str, str] | None = None) -> list[Json]:
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


def _of_role(job: ReplicatedJob, fraction: float | None, apart: str) -> Iterator[Json]:
    requests = pod_requests(job.pod.spec)
    gpus: float = sum(amount.ceil() for name, amount in requests.items() if is_gpu(name))
    needs: Json = {
        "cpus": _number(requests.get("cpu", ZERO)),
        "memory": requests.get("memory", ZERO).ceil(),
        "gpus": fraction if gpus and fraction is not None else gpus,
    }
    parallelism = job.job_spec.get("parallelism")
    at_once = 1 if parallelism is None else int(parallelism)
    group = {"apart": apart} if apart else {}
    for key in pod_keys(job):
        is_first = int(key.rpartition("-")[2]) < at_once
        yield {"pod": key, **({**needs, **group} if is_first else dict.fromkeys(needs, 0))}


def _fractions(metadata: Mapping[str, Any]) -> dict[str, float]:
    """The roles whose task asks for a part of a GPU."""
    text = (metadata.get("annotations") or {}).get(CANDIDATES)
    if not isinstance(text, str):
        return {}
    try:
        roles = json.loads(text)
        named = {
            str(role): accelerators.candidates(told["candidates"][0].get("accelerators"))
            for role, told in roles.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return {}  # whoever wrote it, it is not what our compiler writes
    return {role: found[0].count for role, found in named.items() if found and found[0].count < 1}


def _number(amount: Quantity) -> float:
    whole = amount.ceil()
    return whole if Quantity.parse(whole) == amount else amount.nanos / 10**9
