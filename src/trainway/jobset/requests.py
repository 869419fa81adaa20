"""What a pod asks of a node, counted as the Kubernetes scheduler counts it.

A container asks for its requests, and for its limits where it names no request. Sidecars (init
containers that are kept running) count for as long as the pod lives, other init containers only
while they run, so the pod needs the larger of the two phases. Pod-level resources take the place of
what the containers add up to; overhead comes on top.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from trainway.jobset.quantity import ZERO, Quantity

Resources = dict[str, Quantity]

_HUGE_PAGES = "hugepages-"


def container_requests(container: Mapping[str, Any]) -> Resources:
    """What one container asks for: its requests, else its limits."""
    resources = container.get("resources") or {}
    return _quantities(resources.get("limits")) | _quantities(resources.get("requests"))


def pod_requests(pod_spec: Mapping[str, Any]) -> Resources:
    """What a pod asks for, with all its containers and its overhead."""
    requests = _containers(pod_spec)
    requests |= _pod_level(pod_spec, requests)
    return _sum((requests, _quantities(pod_spec.get("overhead"))))


def _quantities(listed: Mapping[str, Any] | None) -> Resources:
    return {name: Quantity.parse(value) for name, value in (listed or {}).items()}


def _containers(pod_spec: Mapping[str, Any]) -> Resources:
    running = _sum(container_requests(container) for container in pod_spec.get("containers") or ())
    sidecars: Resources = {}
    starting: Resources = {}
    for container in pod_spec.get("initContainers") or ():
        requests = container_requests(container)
        if container.get("restartPolicy") == "Always":
            running = _sum((running, requests))
            sidecars = _sum((sidecars, requests))
            starting = _largest(starting, sidecars)
        else:
            starting = _largest(starting, _sum((requests, sidecars)))
    return _largest(running, starting)


def _pod_level(pod_spec: Mapping[str, Any], containers: Resources) -> Resources:
    """Pod-level requests; a limit alone counts where no container names the resource."""
    resources = pod_spec.get("resources") or {}
    requests = _quantities(resources.get("requests"))
    for name, limit in _quantities(resources.get("limits")).items():
        if name.startswith(_HUGE_PAGES) or name not in containers:
            requests.setdefault(name, limit)
    return {name: amount for name, amount in requests.items() if _is_pod_level(name)}


def _is_pod_level(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith(_HUGE_PAGES)


def _sum(listed: Iterable[Resources]) -> Resources:
    total: Resources = {}
    for resources in listed:
        for name, amount in resources.items():
            total[name] = total.get(name, ZERO) + amount
    return total


def _largest(first: Resources, second: Resources) -> Resources:
    larger = {
        name: amount for name, amount in second.items() if name not in first or amount > first[name]
    }
    return first | larger
