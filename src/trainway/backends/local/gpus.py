"""The GPUs of this machine: NVIDIA's through NVML, AMD's through sysfs.

NVML is asked directly, since its Python binding would be one more dependency for four calls. The
answer is the number of devices; a process is told which to use by their indices.
"""

import ctypes
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

_NVML = "libnvidia-ml.so.1"
_VARIABLES = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_AMD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")


def gpu_names(
    environ: Mapping[str, str],
    nvidia: Callable[[], int] | None = None,
    amd: Callable[[], int] | None = None,
) -> tuple[str, ...]:
    """What each GPU is called in `CUDA_VISIBLE_DEVICES` or `ROCR_VISIBLE_DEVICES`.

    A server that was itself told which to use has no others.
    """
    for variable, count in zip(_VARIABLES, (nvidia or nvidia_gpus, amd or amd_gpus), strict=True):
        told = environ.get(variable)
        found = [str(index) for index in range(count())]
        if found:
            return tuple(found if told is None else _listed(told))
    return ()


def _listed(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    return [name for name in names if name and name != "-1"]


@cache
def own_gpus() -> tuple[str, ...]:
    """The GPUs that this process may use; asked once, since waking a driver takes its time."""
    return gpu_names(os.environ)


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
