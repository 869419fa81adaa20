"""The GPUs of this machine: NVIDIA's through NVML, AMD's through sysfs.

NVML is asked directly, since its Python binding would be one more dependency for four calls. The
answer is the number of devices; a process is told which to use by their indices.

What the environment says does not count: it is that of whoever happened to start the server. Where
jobs are to leave some GPUs alone, TRAINWAY_LOCAL_CAPACITY names the others.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path

_NVML = "libnvidia-ml.so.1"
_AMD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")


def gpu_names(nvidia: Callable[[], int], amd: Callable[[], int]) -> tuple[str, ...]:
    """What each GPU is called in `CUDA_VISIBLE_DEVICES`, or AMD's in `ROCR_VISIBLE_DEVICES`."""
    return tuple(str(index) for index in range(nvidia() or amd()))


@cache
def machine_gpus() -> tuple[str, ...]:
    """The GPUs of the machine; asked once, since waking a driver takes its time."""
    return gpu_names(nvidia_gpus, amd_gpus)


def nvidia_gpus(library: str = _NVML) -> int:
    """The GPUs that NVML knows; none where there is no driver."""
    try:
        nvml = ctypes.CDLL(library)
    except OSError:
        return 0
    if nvml.nvmlInit_v2() != 0:
        return 0
    try:
        count = ctypes.c_uint()
        failed = nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
        return 0 if failed else count.value
    finally:
        nvml.nvmlShutdown()


def amd_gpus(nodes: Path = _AMD_NODES) -> int:
    """The nodes of the kernel's compute topology that have shader cores; CPUs have none."""
    try:
        found = list(nodes.iterdir())
    except OSError:
        return 0
    return sum(_property(node / "properties", "simd_count") > 0 for node in found)


def _property(file: Path, wanted: str) -> int:
    try:
        lines = file.read_text().splitlines()
    except OSError:  # another user's device
        return 0
    for line in lines:
        name, _, value = line.partition(" ")
        if name == wanted and value.isdigit():
            return int(value)
    return 0
