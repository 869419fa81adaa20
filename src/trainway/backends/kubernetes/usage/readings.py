"""How a cluster is asked what pods use, and what it answers. Pure.

metrics.k8s.io knows all pods of a namespace, but exists only where somebody has installed a server
for it. The summary of a kubelet is always there, and needs the right to `get nodes/proxy`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

from trainway.jobset.quantity import InvalidQuantityError, Quantity
from trainway.kube.requests import Request
from trainway.kube.resources import NODES, POD_METRICS

_NANOS: Final = 10**9
_CPU_NANOS_A_PERCENT: Final = _NANOS / 100

Readings = dict[tuple[str, str], "Reading"]
"""What pods use, by namespace and name."""


class Reading(NamedTuple):
    """What a pod was seen to use."""

    cpu: float
    """The CPU, in percent of one core."""
    memory: int
    """Its working set in bytes: what the kernel could not take away from it."""
    time: str
    """When that was, as the cluster writes it: the same measurement may come again."""


def metrics_request(namespace: str, selector: str) -> Request:
    """What all pods of a namespace use that have these labels."""
    query = urlencode({"labelSelector": selector}, quote_via=quote)
    return Request("GET", f"{POD_METRICS.path(namespace)}?{query}")


def summary_request(node: str) -> Request:
    """What all pods of a node use, as its kubelet says it."""
    path = NODES.path(name=node, subresource="proxy/stats/summary")
    return Request("GET", f"{path}?only_cpu_and_memory=true")


def metrics_readings(answer: object) -> Readings:
    """What an answer of metrics.k8s.io says; a pod that was not measured yet is left out."""
    found: Readings = {}
    for item in _items(answer, "items"):
        usages = [_part(container, "usage") for container in _items(item, "containers")]
        cpus = [_nanos(usage.get("cpu")) for usage in usages]
        memories = [_nanos(usage.get("memory")) for usage in usages]
        name = _name(_part(item, "metadata"))
        cpu = sum(value for value in cpus if value is not None)
        memory = sum(value for value in memories if value is not None)
        if name is not None and memory and None not in cpus and None not in memories:
            time = str(item.get("timestamp") or "")
            found[name] = Reading(cpu / _CPU_NANOS_A_PERCENT, memory // _NANOS, time)
    return found


def summary_readings(answer: object) -> Readings:
    """What the summary of a kubelet says; a pod that it has not measured yet is left out."""
    found: Readings = {}
    for item in _items(answer, "pods"):
        cpu, memory = _part(item, "cpu"), _part(item, "memory")
        nanos, held = _count(cpu.get("usageNanoCores")), _count(memory.get("workingSetBytes"))
        name = _name(_part(item, "podRef"))
        if name is not None and nanos is not None and held:
            time = str(cpu.get("time") or "")
            found[name] = Reading(nanos / _CPU_NANOS_A_PERCENT, held, time)
    return found


def _items(value: object, name: str) -> Iterator[Mapping[str, Any]]:
    items = value.get(name) if isinstance(value, dict) else None
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, dict))


def _part(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = value.get(name)
    return part if isinstance(part, dict) else {}


def _name(metadata: Mapping[str, Any]) -> tuple[str, str] | None:
    namespace, name = metadata.get("namespace"), metadata.get("name")
    return (namespace, name) if isinstance(namespace, str) and isinstance(name, str) else None


def _nanos(value: object) -> int | None:
    """Billionths of a quantity; None: it is none."""
    if not isinstance(value, str):
        return None
    try:
        nanos = Quantity.parse(value).nanos
    except InvalidQuantityError:
        return None
    return nanos if nanos >= 0 else None


def _count(value: object) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if isinstance(value, int) and is_count else None
