"""The machines that a compiled job is to have on a cloud: how many, and what each must have. Pure.

Nodes that work at the same time have a machine each. A launcher that runs no ranks itself, and what
fetches data before the training begins, need none of their own: they share one.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from trainway.api import accelerators
from trainway.backends.demand import pods_at_once, roles_together
from trainway.backends.gpu_types import accelerators_of
from trainway.backends.node_sharing import launcher_works
from trainway.backends.pod_demand import pod_demands
from trainway.compiler.workload import DATASET_INITIALIZER, LAUNCHER, MODEL_INITIALIZER
from trainway.errors import UsageError
from trainway.jobset.labels import ACCELERATORS
from trainway.jobset.model import KIND as JOBSET
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json

Amounts: TypeAlias = tuple[float, float, float]
"""CPUs, bytes of memory and GPUs."""
_NOTHING: Final[Amounts] = (0, 0, 0)
_HELPERS: Final = frozenset({LAUNCHER, DATASET_INITIALIZER, MODEL_INITIALIZER})
_PRODUCTS: Final = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "gpu.nvidia.com/model",
)
"""The labels of nodes that name a type of GPU, as pods select by them."""
_MAKERS: Final = frozenset({"nvidia", "tesla", "amd", "instinct", "geforce"})
_LARGE: Final = "80GB"


@dataclass(frozen=True)
class Machines:
    """So many machines, all alike."""

    nodes: int
    resources: Json
    """What each has, as a task says it."""


def machines_of(source: Json, jobset: Json, objects: Iterable[Json] = ()) -> Machines:
    """The machines of a job, by what it was compiled to; UsageError: it must say more."""
    amounts: dict[str, Amounts] = {}
    for pod in pod_demands(jobset):  # the first of each role: those after it may run later
        role = pod["pod"].rsplit("-", 2)[0]
        amounts.setdefault(role, (pod["cpus"], pod["memory"], pod["gpus"]))
    helpers = _helpers(source, jobset, objects)
    pods = {job.name: job.replicas * pods_at_once(job) for job in replicated_jobs(jobset["spec"])}
    nodes, most = 1, _NOTHING
    for group in roles_together(jobset["spec"]):
        working = [role for role in group if role not in helpers and pods[role]]
        beside = [role for role in group if role in helpers and pods[role]]
        nodes = max(nodes, sum(pods[role] for role in working))
        largest = _each(max, [amounts[role] for role in working])
        most = _each(max, [most, _each(sum, [largest, *(amounts[role] for role in beside)])])
    cpus, memory, gpus = most
    resources: Json = {"cpus": f"{cpus:g}+"} if cpus else {}
    gibibytes = round(memory / 2**30, 3)
    if gibibytes:
        resources["memory"] = f"{gibibytes:g}+"
    return Machines(nodes, resources | (_gpus(source, jobset, gpus) if gpus else {}))


def gpu_type(product: str) -> str:
    """The type of GPU that a label of a node means, as clouds call it: `A100-80GB`, `T4`."""
    words = [word for word in re.split(r"[-_ ]+", product) if word.lower() not in _MAKERS]
    name = words[0].upper() if words else product
    has_more = name == "A100" and any(word.upper() == _LARGE for word in words)
    return f"{name}-{_LARGE}" if has_more else name


def _helpers(source: Json, jobset: Json, objects: Iterable[Json]) -> frozenset[str]:
    """The roles that share the machine of another one."""
    if source.get("kind") == JOBSET:
        return frozenset()
    return _HELPERS - ({LAUNCHER} if launcher_works(jobset, objects) else frozenset())


def _each(of: Callable[[tuple[float, ...]], float], found: Sequence[Amounts]) -> Amounts:
    """The sum of amounts, or the largest, one by one."""
    cpus, memory, gpus = (of(each) for each in zip(_NOTHING, *found, strict=True))
    return cpus, memory, gpus


def _gpus(source: Json, jobset: Json, count: float) -> Json:
    """GPUs of the type that the job names, wherever it may do so."""
    told = [((each.get("metadata") or {}).get("annotations") or {}) for each in (source, jobset)]
    named = next((str(each[ACCELERATORS]) for each in told if each.get(ACCELERATORS)), "")
    if named:
        try:
            return {"accelerators": f"{accelerators.parse(named).name}:{count:g}"}
        except ValueError as error:
            raise UsageError(f"{ACCELERATORS}: {named!r} {error}") from None
    of_tasks = [each.name for each in accelerators_of(jobset.get("metadata") or {}).values()]
    if of_tasks:
        return {"accelerators": f"{of_tasks[0]}:{count:g}"}
    for labels in _selectors(jobset):
        product = next((labels[name] for name in _PRODUCTS if labels.get(name)), None)
        if product:
            return {"accelerators": f"{gpu_type(str(product))}:{count:g}"}
    raise UsageError(
        "the job does not say which type of GPU it needs, and clouds have many at very different"
        " prices",
        hint=f"write --gpus A100:{count:g}, or give the job the annotation {ACCELERATORS}: A100 or"
        f" a nodeSelector such as {_PRODUCTS[0]}",
    )


def _selectors(jobset: Json) -> list[Mapping[str, Any]]:
    """The labels of nodes that pods select by."""
    found = [job.pod.spec.get("nodeSelector") for job in replicated_jobs(jobset["spec"])]
    return [labels for labels in found if isinstance(labels, dict)]
