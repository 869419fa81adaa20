"""Which types of GPUs a gang asks for, where its task names them. Pure.

Kubernetes counts GPUs and knows no types. Those of a task stand in the annotation that its compiler
writes; of several that would do, the first counts.
"""

import json
from collections.abc import Mapping
from typing import Any

from trainway.api import accelerators
from trainway.api.accelerators import Accelerator
from trainway.backends.demand import pods_at_once
from trainway.compiler.devices import is_gpu
from trainway.jobset.labels import CANDIDATES
from trainway.jobset.model import replicated_jobs
from trainway.jobset.requests import pod_requests


def gpu_types(jobset: Mapping[str, Any]) -> dict[str, int]:
    """How many GPUs of each type the pods of a JobSet ask for at the same time."""
    named = accelerators_of(jobset.get("metadata") or {})
    found: dict[str, int] = {}
    for job in replicated_jobs(jobset["spec"]) if named else ():
        requests = pod_requests(job.pod.spec)
        each = sum(amount.ceil() for name, amount in requests.items() if is_gpu(name))
        count = each * job.replicas * pods_at_once(job)
        if count and job.name in named:
            kind = named[job.name].name
            found[kind] = found.get(kind, 0) + count
    return found


def accelerators_of(metadata: Mapping[str, Any]) -> dict[str, Accelerator]:
    """The accelerator that each role asks for, where its task names one."""
    text = (metadata.get("annotations") or {}).get(CANDIDATES)
    if not isinstance(text, str):
        return {}
    try:
        roles = {
            str(role): accelerators.candidates(told["candidates"][0].get("accelerators"))
            for role, told in json.loads(text).items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return {}  # whoever wrote it, it is not what our compiler writes
    return {role: found[0] for role, found in roles.items() if found}
