"""What this machine has for jobs: CPUs, memory and GPUs, within the limits of its container."""

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainway.backends.base import Capacity
from trainway.backends.local.gpus import machine_gpus
from trainway.errors import UsageError
from trainway.jobset.quantity import InvalidQuantityError, Quantity

OVERRIDE: Final = "TRAINWAY_LOCAL_CAPACITY"
"""The variable with JSON that takes the place of what was found: `{"cpu": "4", "memory": "8Gi",
"gpus": 2}`."""


@dataclass(frozen=True)
class Machine:
    """Where the numbers come from; tests bring their own."""

    root: Path = Path("/")
    cpus: Callable[[], int] = lambda: len(os.sched_getaffinity(0))
    gpus: Callable[[], tuple[str, ...]] = machine_gpus

    def capacity(self, environ: Mapping[str, str] = os.environ) -> Capacity:
        """All there is, or what the environment says there is."""
        override = _override(environ.get(OVERRIDE, ""))
        cpus, memory, gpus = (override.get(key) for key in ("cpu", "memory", "gpus"))
        return Capacity(
            cpus=self._cpus() if cpus is None else _quantity("cpu", cpus),
            memory=self._memory() if memory is None else _quantity("memory", memory),
            gpus=tuple(self.gpus() if gpus is None else _gpus(gpus)),
        )

    def _cpus(self) -> Quantity:
        """The CPUs we may run on, or fewer where a cgroup limits them."""
        number: float = self.cpus()
        quota, _, period = self._read("sys/fs/cgroup/cpu.max").partition(" ")
        if not period:
            quota = self._read("sys/fs/cgroup/cpu/cpu.cfs_quota_us")
            period = self._read("sys/fs/cgroup/cpu/cpu.cfs_period_us")
        if quota.isdigit() and period.isdigit():  # "max" and -1 mean no limit
            number = min(number, int(quota) / int(period))
        return Quantity.parse(f"{math.floor(number * 1000)}m")

    def _memory(self) -> Quantity:
        """The memory of the machine, or less where a cgroup limits it."""
        found = [self._total_memory()]
        for file in ("memory.max", "memory/memory.limit_in_bytes"):
            limit = self._read(f"sys/fs/cgroup/{file}")
            if limit.isdigit():
                found.append(int(limit))
        return Quantity.parse(f"{min(found) // 1024}Ki")

    def _total_memory(self) -> int:
        for line in self._read("proc/meminfo").splitlines():
            if line.startswith("MemTotal:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def _read(self, path: str) -> str:
        try:
            return (self.root / path).read_text().strip()
        except OSError:
            return ""


def _override(text: str) -> Mapping[str, object]:
    if not text:
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UsageError(
            f"{OVERRIDE} is not a JSON object", hint='such as {"cpu": "4", "memory": "8Gi"}'
        )
    return found


def _quantity(name: str, value: object) -> Quantity:
    try:
        return Quantity.parse(value if isinstance(value, str | int | float) else "")
    except InvalidQuantityError as error:
        raise UsageError(f"{OVERRIDE}: {name}: {error}") from error


def _gpus(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    if isinstance(value, int) and value >= 0:
        return [str(index) for index in range(value)]
    raise UsageError(f"{OVERRIDE}: gpus: a number or a list of names, not {value!r}")
