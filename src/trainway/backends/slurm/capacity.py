"""What a cluster has for jobs, partition by partition, as its login node says. Pure.

Partitions may have nodes in common, so they cannot be added up: the whole is told as well.
"""

from collections.abc import Mapping
from typing import Any

from trainway.backends.base import Capacity
from trainway.backends.pools import Pool
from trainway.jobset.quantity import Quantity


def capacity_of(facts: Mapping[str, Any], partition: str = "") -> Capacity:
    """The partitions that are up; only the named one where one is."""
    pools = [
        pool_of(told)
        for told in facts.get("partitions") or ()
        if told.get("state") == "up" and partition in ("", told["name"])
    ]
    if not pools:
        return Capacity()
    whole = pools[0] if partition else pool_of({"name": "", **facts["whole"]})
    return Capacity(
        cpus=whole.cpus,
        memory=whole.memory,
        gpus=tuple(
            f"{kind}/{number}" for kind, count in whole.gpus.items() for number in range(count)
        ),
        pools=tuple(pools),
        whole=whole,
    )


def pool_of(told: Mapping[str, Any]) -> Pool:
    """What a partition has."""
    return Pool(
        name=str(told["name"]),
        nodes=int(told.get("nodes") or 0),
        cpus=Quantity.parse(int(told.get("cpus") or 0)),
        free_cpus=Quantity.parse(int(told.get("free_cpus") or 0)),
        memory=_mebibytes(told.get("memory")),
        free_memory=_mebibytes(told.get("free_memory")),
        gpus=_gpus(told.get("gpus")),
        free_gpus=_gpus(told.get("free_gpus")),
    )


def _mebibytes(number: float | None) -> Quantity:
    return Quantity.parse(f"{int(number or 0)}Mi")


def _gpus(counts: Mapping[str, Any] | None) -> dict[str, int]:
    """By type; those that have none are called GPU."""
    return {"GPU" if kind == "gpu" else kind: int(count) for kind, count in (counts or {}).items()}
