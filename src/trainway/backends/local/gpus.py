"""The GPUs of this machine, and how a process is told which to use.

What the environment says does not count: it is that of whoever happened to start the server. Where
jobs are to leave some GPUs alone, TRAINWAY_LOCAL_CAPACITY names the others.
"""

from collections.abc import Callable
from functools import cache

from trainway.agent.kubelet.gpus import amd_gpus, nvidia_gpus

__all__ = ["amd_gpus", "gpu_names", "machine_gpus", "nvidia_gpus"]


def gpu_names(nvidia: Callable[[], int], amd: Callable[[], int]) -> tuple[str, ...]:
    """What each GPU is called in `CUDA_VISIBLE_DEVICES`, or AMD's in `ROCR_VISIBLE_DEVICES`."""
    return tuple(str(index) for index in range(nvidia() or amd()))


@cache
def machine_gpus() -> tuple[str, ...]:
    """The GPUs of the machine; asked once, since waking a driver takes its time."""
    return gpu_names(nvidia_gpus, amd_gpus)
