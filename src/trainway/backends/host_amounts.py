"""What a host of a pool has, as far as a cluster cares, and what a task takes of a cluster."""

from dataclasses import dataclass
from typing import Final

TASK_CPUS: Final = 0.5
"""How many CPUs a node of a task has that asks for none, as with SkyPilot."""


@dataclass(frozen=True)
class HostAmounts:
    """All of it, whoever uses it now."""

    name: str
    cpus: float
    memory: float
    """The memory, in bytes."""
    gpus: float
