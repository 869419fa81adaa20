"""A machine type, and the offers of it: somewhere, for a price."""

from dataclasses import dataclass
from enum import StrEnum


class Trait(StrEnum):
    """What a machine type is like, where few people would take it without asking for it."""

    ARM = "arm64"
    BURSTABLE = "burstable"
    RETIRED = "retired"
    PROMOTIONAL = "promotional"


@dataclass(frozen=True)
class MachineType:
    """A kind of machine that a cloud rents out."""

    cloud: str
    name: str
    vcpus: float
    """0: nobody says."""
    memory_gib: float
    """0: nobody says."""
    accelerator: str = ""
    accelerator_count: float = 0
    accelerator_gib: float = 0
    """The memory of one accelerator; 0: nobody says."""
    traits: frozenset[Trait] = frozenset()
    local_disk_gb: float = 0
    """All disks inside of it together; 0: it has none, or nobody says."""
    local_disk_kind: str = ""
    """`nvme` or `ssd`."""
    fast_network: bool = False
    """Whether its network is known to be one for gangs: EFA, GPUDirect or InfiniBand."""


@dataclass(frozen=True)
class Offer:
    """A machine type in a region, or in a zone of it; None: not to be had that way."""

    machine: MachineType
    region: str
    zone: str
    price: float | None
    spot_price: float | None

    def hourly(self, *, spot: bool) -> float | None:
        """What an hour costs."""
        return self.spot_price if spot else self.price
