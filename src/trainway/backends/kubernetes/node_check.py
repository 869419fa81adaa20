"""The health check of nodes on Kubernetes, and pods that are kept off those that failed it. Pure.

The check is the first init container of each pod, in the image of the job, which needs a python3. A
node that fails it is named by the watch, and the next attempt asks for others: by their names,
since the label with the hostname of a node may say another.
"""

import copy
import importlib
import inspect
import json
from collections.abc import Collection
from functools import cache
from typing import Final

from trainway.api.health_check import health_check
from trainway.backends.kubernetes.continuation import has_output
from trainway.backends.kubernetes.files import waiting_like
from trainway.backends.kubernetes.pod_reasons import CHECK
from trainway.backends.kubernetes.variables import OUTPUT, VOLUME
from trainway.compiler.restarts import INITIALIZERS
from trainway.jobset.model import replicated_jobs
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json

_GPUS: Final = "nvidia.com/gpu"
_PACKAGES: Final = ("trainway", "trainway.agent", "trainway.agent.kubelet")
_HEALTH: Final = "trainway.agent.kubelet.health"
_MODULES: Final = (
    "trainway.agent.kubelet.gpus",
    *(f"{_HEALTH}.{name}" for name in ("xid", "disk", "gpu_query", "verdict", "pod_check")),
)
"""What travels, each after those that it imports."""
_LOADER: Final = """\
import json, sys, types
for name, text in json.loads({texts!r}):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = []
    exec(compile(text, name, "exec"), module.__dict__)
sys.exit(sys.modules[{main!r}].run({directory!r}, {gpus}))
"""
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def is_wanted(source: Json, jobset: Json) -> bool:
    """Whether the nodes of a job are to be checked."""
    return bool(health_check(source, jobset))


def checking(jobset: Json) -> Json:
    """The JobSet, whose pods look at their node before anything else."""
    jobset = copy.deepcopy(jobset)
    for role in replicated_jobs(jobset["spec"]):
        pod = role.pod.spec
        main = next((each for each in pod["containers"] if has_output(each)), None)
        if main is None or role.name in INITIALIZERS:
            continue
        limits = (main.get("resources") or {}).get("limits") or {}
        count = Quantity.parse(limits[_GPUS]).ceil() if _GPUS in limits else 0
        command = ["python3", "-I", "-c", program(count)]
        check = waiting_like(main, CHECK, command, [{"name": VOLUME, "mountPath": OUTPUT}])
        if count:  # the same GPUs: a kubelet gives them on to the containers that follow
            given = check.setdefault("resources", {}).setdefault("limits", {})
            given[_GPUS] = limits[_GPUS]
        pod["initContainers"] = [check, *(pod.get("initContainers") or ())]
    return jobset


@cache
def program(gpus: int) -> str:
    """The check as one text, for a Python that has nothing of ours."""
    texts = [[name, ""] for name in (*_PACKAGES, _HEALTH)]
    texts += [[name, inspect.getsource(importlib.import_module(name))] for name in _MODULES]
    main = _MODULES[-1]
    return _LOADER.format(texts=json.dumps(texts), main=main, directory=OUTPUT, gpus=gpus)


def keeping_off(jobset: Json, nodes: Collection[str]) -> Json:
    """The JobSet, whose pods are not placed on these nodes."""
    if not nodes:
        return jobset
    jobset = copy.deepcopy(jobset)
    fields = [
        {"key": "metadata.name", "operator": "NotIn", "values": [node]} for node in sorted(nodes)
    ]
    for role in replicated_jobs(jobset["spec"]):
        affinity = role.pod.spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        required = affinity.setdefault(_REQUIRED, {})
        terms = required.get("nodeSelectorTerms") or [{}]
        required["nodeSelectorTerms"] = [
            {**term, "matchFields": [*(term.get("matchFields") or ()), *fields]} for term in terms
        ]
    return jobset
