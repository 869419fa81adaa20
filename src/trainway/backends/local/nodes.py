"""A node of one: this machine, with what its GPUs do at this moment.

NVIDIA's driver is asked by a child: one whose GPU has failed may never answer, and then only the
child waits for it.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from trainway.agent.kubelet.usage.gpu_monitor import Gpu as MeasuredGpu
from trainway.agent.kubelet.usage.gpu_monitor import is_driver_here, parsed
from trainway.backends.base import Capacity
from trainway.backends.nodes import Gpu, Node

_LIMIT_S: Final = 5.0
_KILLED_S: Final = 2.0
_PROGRAM: Final = """\
from trainway.agent.kubelet.usage.nvml import Nvml
for line in Nvml().lines():
    print(line)
"""
READY: Final = "up"


def machine_node(name: str, capacity: Capacity, measured: Mapping[str, MeasuredGpu]) -> Node:
    """The machine; what jobs hold of it is known to whoever starts them."""
    return Node(
        name,
        READY,
        cpus=capacity.cpus,
        free_cpus=capacity.cpus,
        memory=capacity.memory,
        free_memory=capacity.memory,
        gpus=len(capacity.gpus),
        free_gpus=len(capacity.gpus),
        devices=tuple(_gpu(gpu, measured.get(gpu)) for gpu in capacity.gpus),
    )


def _gpu(name: str, found: MeasuredGpu | None) -> Gpu:
    if found is None:
        return Gpu(name)
    memory, total = found.figures.get("memory"), found.figures.get("memoryTotal")
    return Gpu(
        name,
        utilization=found.figures.get("utilization"),
        memory=None if memory is None else int(memory),
        total_memory=None if total is None else int(total),
    )


async def measured_gpus(
    argv: Sequence[str] = (sys.executable, "-c", _PROGRAM), limit_s: float = _LIMIT_S
) -> dict[str, MeasuredGpu]:
    """What the GPUs of this machine do, by index; nothing where there is no driver."""
    if not is_driver_here():
        return {}
    return await read(argv, limit_s)


async def read(argv: Sequence[str], limit_s: float) -> dict[str, MeasuredGpu]:
    """What a program says of the GPUs; nothing where it takes too long."""
    nowhere = asyncio.subprocess.DEVNULL
    try:
        child = await asyncio.create_subprocess_exec(
            *argv, stdin=nowhere, stdout=asyncio.subprocess.PIPE, stderr=nowhere
        )
    except OSError:
        return {}
    try:
        async with asyncio.timeout(limit_s):
            said, _ = await child.communicate()
    except TimeoutError:
        return {}
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            with suppress(TimeoutError):  # one that waits for a broken GPU cannot be killed either
                await asyncio.wait_for(child.wait(), _KILLED_S)
    found = (parsed(line) for line in said.decode(errors="replace").splitlines())
    return {gpu.index: gpu for gpu in found if gpu is not None}
