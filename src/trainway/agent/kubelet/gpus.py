"""The GPUs of this machine: NVIDIA's through NVML, AMD's through sysfs.

NVML is asked directly, since its Python binding would be one more dependency for four calls. The
answer is the number of devices; a process is told which to use by their indices. What the
environment says does not count: it is that of whoever happened to start the agent.
"""

from __future__ import annotations

import ctypes
import os

NVML = "libnvidia-ml.so.1"
AMD_NODES = "/sys/class/kfd/kfd/topology/nodes"


def machine_gpus() -> list[str]:
    """What each GPU is called in `CUDA_VISIBLE_DEVICES`, or AMD's in `ROCR_VISIBLE_DEVICES`."""
    return [str(index) for index in range(nvidia_gpus() or amd_gpus())]


def nvidia_gpus(library: str = NVML) -> int:
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
        return 0 if failed else int(count.value)
    finally:
        nvml.nvmlShutdown()


def amd_gpus(nodes: str | os.PathLike[str] = AMD_NODES) -> int:
    """The nodes of the kernel's compute topology that have shader cores; CPUs have none."""
    try:
        found = os.listdir(nodes)
    except OSError:
        return 0
    return sum(_property(f"{nodes}/{node}/properties", "simd_count") > 0 for node in found)


def _property(path: str, wanted: str) -> int:
    try:
        with open(path, encoding="ascii") as file:
            lines = file.read().splitlines()
    except OSError:  # another user's device
        return 0
    for line in lines:
        name, _, value = line.partition(" ")
        if name == wanted and value.isdigit():
            return int(value)
    return 0
