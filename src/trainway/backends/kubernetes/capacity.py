"""What a cluster has for jobs: by sort of node, less what pods there hold, and quotas. Pure.

A sort of node is its type of GPU where it has any, else its instance type. What is free of a
resource is what nodes that take new pods have left, added up: a pod may still fit on none of them.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from trainway.backends.base import Capacity
from trainway.backends.pools import Limit, Pool
from trainway.jobset.quantity import ZERO, Quantity
from trainway.jobset.requests import Resources, pod_requests
from trainway.jobset.status import conditions_of, find_true
from trainway.json_types import Json

_PRODUCTS: Final = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "gpu.nvidia.com/model",
)
_INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
_GPUS: Final = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe")
_MIG: Final = "nvidia.com/mig-"
_OVER: Final = ("Succeeded", "Failed")
NO_POOL: Final = "nodes"
"""The sort of nodes that say nothing of it."""


def capacity_of(nodes: Iterable[Json], pods: Iterable[Json], quotas: Iterable[Json]) -> Capacity:
    """All nodes together, and by sort."""
    held = held_by_node(pods)
    groups: dict[str, list[Json]] = {}
    for node in nodes:
        groups.setdefault(pool_name(node), []).append(node)
    pools = tuple(_pool(name, group, held) for name, group in sorted(groups.items()))
    return Capacity(
        cpus=sum((pool.cpus for pool in pools), ZERO),
        memory=sum((pool.memory for pool in pools), ZERO),
        gpus=tuple(f"{pool.name}/{number}" for pool in pools for number in range(_all(pool.gpus))),
        pools=pools,
        limits=limits_of(quotas),
    )


def pool_name(node: Mapping[str, Any]) -> str:
    """The sort of a node."""
    labels = (node.get("metadata") or {}).get("labels") or {}
    if gpus_of(amounts_of((node.get("status") or {}).get("allocatable"))):
        product = next((labels[name] for name in _PRODUCTS if labels.get(name)), "")
        if product:
            return str(product)
    return str(labels.get(_INSTANCE_TYPE) or NO_POOL)


def gpus_of(resources: Resources) -> dict[str, int]:
    """The devices among resources, by name."""
    found = {
        name: math.floor(amount.nanos / 10**9)
        for name, amount in resources.items()
        if name in _GPUS or name.startswith(_MIG)
    }
    return {name: number for name, number in found.items() if number}


def limits_of(quotas: Iterable[Json]) -> tuple[Limit, ...]:
    """What ResourceQuotas allow, and what of it is used."""
    found = []
    for quota in quotas:
        status = quota.get("status") or {}
        hard = amounts_of(status.get("hard") or (quota.get("spec") or {}).get("hard"))
        used = amounts_of(status.get("used"))
        name = quota["metadata"]["name"]
        found += [
            Limit(name, resource, amount, used.get(resource, ZERO))
            for resource, amount in sorted(hard.items())
        ]
    return tuple(found)


def _pool(name: str, nodes: list[Json], held: Mapping[str, Resources]) -> Pool:
    total: Resources = {}
    free: Resources = {}
    for node in nodes:
        has = amounts_of((node.get("status") or {}).get("allocatable"))
        taken = held.get(node["metadata"]["name"], {})
        is_open = _takes_pods(node)
        for resource, amount in has.items():
            total[resource] = total.get(resource, ZERO) + amount
            left = amount - taken.get(resource, ZERO)
            if is_open and left > ZERO:
                free[resource] = free.get(resource, ZERO) + left
    return Pool(
        name=name,
        nodes=len(nodes),
        cpus=total.get("cpu", ZERO),
        free_cpus=free.get("cpu", ZERO),
        memory=total.get("memory", ZERO),
        free_memory=free.get("memory", ZERO),
        gpus=gpus_of(total),
        free_gpus=gpus_of(free),
    )


def _takes_pods(node: Json) -> bool:
    """Whether new pods may come: ready, not cordoned."""
    is_ready = find_true(conditions_of(node), "Ready") is not None
    return is_ready and not (node.get("spec") or {}).get("unschedulable")


def held_by_node(pods: Iterable[Json]) -> dict[str, Resources]:
    """What pods hold of each node."""
    held: dict[str, Resources] = {}
    for pod in pods:
        node = pod["spec"].get("nodeName")
        if not node or (pod.get("status") or {}).get("phase") in _OVER:
            continue
        there = held.setdefault(node, {})
        for resource, amount in pod_requests(pod["spec"]).items():
            there[resource] = there.get(resource, ZERO) + amount
    return held


def amounts_of(listed: Mapping[str, Any] | None) -> Resources:
    """A list of resources, read."""
    return {name: Quantity.parse(value) for name, value in (listed or {}).items()}


def _all(gpus: Mapping[str, int]) -> int:
    return sum(gpus.values())
