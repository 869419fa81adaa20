"""Which resources of a container are GPUs, and how many there are.

Upstream takes any resource with "gpu" in its name, so memory and core shares count as devices and
MIG slices do not (defect D10). Here a table decides, and several kinds of device add up.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from trainway.jobset.quantity import Quantity

_GPU_RESOURCES: Final = re.compile(
    r"""
      [^/]+/gpu(\.shared)?                   # nvidia.com/gpu, amd.com/gpu, vendors that follow them
    | nvidia\.com/mig-.+
    | gpu\.intel\.com/(i915|xe)
    | habana\.ai/gaudi
    """,
    re.VERBOSE | re.IGNORECASE,
)


def is_gpu(resource: str) -> bool:
    """Whether one unit of this resource is a device that runs one process."""
    return _GPU_RESOURCES.fullmatch(resource) is not None


def gpus(resources: Mapping[str, Any]) -> int:
    """The GPUs of a container: those it requests, else those it is limited to."""
    return _count(resources.get("requests")) or _count(resources.get("limits"))


def cpus(resources: Mapping[str, Any]) -> int:
    """The CPUs of a container, rounded up: requested, else the limit, else none."""
    for amounts in (resources.get("requests"), resources.get("limits")):
        amount = Quantity.parse((amounts or {}).get("cpu", 0))
        if not amount.is_zero:
            return amount.ceil()
    return 0


def _count(amounts: Mapping[str, Any] | None) -> int:
    return sum(Quantity.parse(n).ceil() for name, n in (amounts or {}).items() if is_gpu(name))
