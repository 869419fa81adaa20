"""What an infrastructure of several nodes has, by sort of node and by limit."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainway.jobset.quantity import ZERO, Quantity


@dataclass(frozen=True)
class Pool:
    """Nodes of one sort, what they have, and what of it nobody holds."""

    name: str
    nodes: int
    cpus: Quantity = ZERO
    free_cpus: Quantity = ZERO
    memory: Quantity = ZERO
    free_memory: Quantity = ZERO
    gpus: Mapping[str, int] = field(default_factory=dict)
    """How many GPUs there are of each type."""
    free_gpus: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Limit:
    """So much of a resource may be used, and so much is."""

    name: str
    resource: str
    hard: Quantity
    used: Quantity
