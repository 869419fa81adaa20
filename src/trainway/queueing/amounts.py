"""Amounts of what jobs use, as whole numbers by resource: a decision compares tens of thousands.

CPUs are counted in thousandths and memory in bytes. GPUs are counted in all, and those of a type
once more as `gpu:TYPE`.
"""

from collections.abc import Mapping
from typing import Final

from trainway.counting import counted

Amounts = Mapping[str, int]

CPU: Final = "cpu"
MEMORY: Final = "memory"
GPU: Final = "gpu"
JOBS: Final = "jobs"
"""How many jobs run; each counts one, whatever it asks for."""
_TYPE: Final = f"{GPU}:"

_MEMORY_UNITS: Final = (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))


def gpu_of(kind: str) -> str:
    """The resource that counts GPUs of a type."""
    return _TYPE + kind


def is_type(resource: str) -> bool:
    """Whether it counts GPUs of one type."""
    return resource.startswith(_TYPE)


def is_known(resource: str) -> bool:
    """Whether there is such a resource."""
    return resource in (CPU, MEMORY, GPU, JOBS) or (
        resource.startswith(_TYPE) and resource != _TYPE
    )


def fits(wanted: Amounts, free: Amounts) -> bool:
    """Whether so much is free; what is not wanted may be short."""
    for resource, amount in wanted.items():
        if amount > free.get(resource, 0) and amount:
            return False
    return True


def add(amounts: dict[str, int], more: Amounts) -> None:
    """Add, in place."""
    for resource, amount in more.items():
        amounts[resource] = amounts.get(resource, 0) + amount


def subtract(amounts: dict[str, int], less: Amounts) -> None:
    """Subtract, in place."""
    for resource, amount in less.items():
        amounts[resource] = amounts.get(resource, 0) - amount


def shortages(wanted: Amounts, free: Amounts) -> list[str]:
    """The resources of which less is free than wanted."""
    return [name for name, amount in wanted.items() if amount and free.get(name, 0) < amount]


def told(resource: str, amount: int) -> str:
    """An amount as a person reads it: `2 CPUs`, `16Gi of memory`, `1 GPU of type H100`."""
    if resource == MEMORY:
        return f"{figure(resource, amount)} of memory"
    if resource == CPU:
        return counted(amount / 1000, "CPU")
    if resource == JOBS:
        return counted(amount, "running job")
    kind = resource.removeprefix(GPU).removeprefix(":")
    return counted(amount, "GPU") + (f" of type {kind}" if kind else "")


def figure(resource: str, amount: int) -> str:
    """The number alone, with the unit where it needs one."""
    if resource == CPU:
        return f"{amount / 1000:g}"
    if resource == MEMORY:
        for unit, size in _MEMORY_UNITS:
            if amount >= size:
                return f"{amount / size:.4g}{unit}"
    return str(amount)
