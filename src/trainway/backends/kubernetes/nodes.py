"""The nodes of a cluster, each with what its pods request. Pure.

Kubernetes does not tell which GPU a pod has, only how many.
"""

from collections.abc import Iterable
from typing import Final

from trainway.backends.kubernetes.capacity import (
    NO_POOL,
    amounts_of,
    gpus_of,
    held_by_node,
    pool_name,
)
from trainway.backends.nodes import Node
from trainway.jobset.quantity import ZERO, Quantity
from trainway.jobset.requests import Resources
from trainway.jobset.status import conditions_of
from trainway.json_types import Json

_READY: Final = "Ready"
_CORDONED: Final = "it is cordoned"


def nodes_of(nodes: Iterable[Json], pods: Iterable[Json]) -> list[Node]:
    """All nodes by name."""
    held = held_by_node(pods)
    found = [_node(node, held.get(str(node["metadata"]["name"]), {})) for node in nodes]
    return sorted(found, key=lambda node: node.name)


def _node(node: Json, held: Resources) -> Node:
    has = amounts_of((node.get("status") or {}).get("allocatable"))
    free = {name: _left(amount, held.get(name, ZERO)) for name, amount in has.items()}
    problem, sort = _problem(node), pool_name(node)
    return Node(
        str(node["metadata"]["name"]),
        "NotReady" if problem and not _is_cordoned(node) else _READY,
        problem,
        "" if sort == NO_POOL else sort,
        cpus=has.get("cpu", ZERO),
        free_cpus=free.get("cpu", ZERO),
        memory=has.get("memory", ZERO),
        free_memory=free.get("memory", ZERO),
        gpus=sum(gpus_of(has).values()),
        free_gpus=sum(gpus_of(free).values()),
        drained=_CORDONED if (node.get("spec") or {}).get("unschedulable") else "",
    )


def _left(amount: Quantity, taken: Quantity) -> Quantity:
    left = amount - taken
    return left if left > ZERO else ZERO


def _is_cordoned(node: Json) -> bool:
    return bool((node.get("spec") or {}).get("unschedulable")) and not _not_ready(node)


def _not_ready(node: Json) -> str:
    for condition in conditions_of(node):
        if condition.get("type") == _READY:
            if condition.get("status") == "True":
                return ""
            return str(condition.get("message") or condition.get("reason") or "it is not ready")
    return "its kubelet has said nothing yet"


def _problem(node: Json) -> str:
    """Why it takes no new pods."""
    not_ready = _not_ready(node)
    if not_ready:
        return not_ready
    return f"{_CORDONED}: kubectl uncordon lets pods come again" if _is_cordoned(node) else ""
