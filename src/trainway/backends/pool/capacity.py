"""What a pool has for jobs, host by host, as its agent or the hosts themselves say. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from trainway.backends.base import Capacity
from trainway.backends.pools import Pool
from trainway.jobset.quantity import ZERO, Quantity
from trainway.json_types import Json

_GPU: Final = "GPU"


def capacity_of(hosts: Iterable[Mapping[str, Any]]) -> Capacity:
    """Hosts as the pool agent's `status` has them; those that it does not reach have nothing."""
    pools = tuple(pool_of(host) for host in hosts if host.get("cpus"))
    return Capacity(
        cpus=sum((pool.cpus for pool in pools), ZERO),
        memory=sum((pool.memory for pool in pools), ZERO),
        gpus=tuple(
            f"{pool.name}/{number}" for pool in pools for number in range(pool.gpus.get(_GPU, 0))
        ),
        pools=pools,
    )


def described(host: Mapping[str, Any], report: Mapping[str, Any]) -> Json:
    """A host that nobody uses, from its report and within its limits."""
    amounts = {
        name: min(report[name], host.get(name, report[name])) for name in ("cpus", "memory", "gpus")
    }
    return {"name": host["name"], **amounts, "free": dict(amounts)}


def pool_of(host: Mapping[str, Any]) -> Pool:
    """A host as a pool of its own."""
    free = host.get("free") or {}
    gpus, free_gpus = _count(host.get("gpus")), _count(free.get("gpus"))
    return Pool(
        name=str(host["name"]),
        nodes=1,
        cpus=_cpus(host.get("cpus")),
        free_cpus=_cpus(free.get("cpus")),
        memory=_bytes(host.get("memory")),
        free_memory=_bytes(free.get("memory")),
        gpus={_GPU: gpus} if gpus else {},
        free_gpus={_GPU: free_gpus} if free_gpus else {},
    )


def _cpus(number: float | None) -> Quantity:
    return Quantity.parse(f"{int((number or 0) * 1000)}m")


def _bytes(number: float | None) -> Quantity:
    return Quantity.parse(f"{int(number or 0) // 1024}Ki")


def _count(gpus: Any) -> int:
    """GPUs by number, or by name; of one that is used in part nothing is free."""
    return len(gpus) if isinstance(gpus, list) else int(gpus or 0)
