"""The health check of a node, from inside a pod of Kubernetes that an image gives a Python.

There is no agent in a pod. So this travels as text (`backends/kubernetes/node_check.py`) and is the
first container there; what it finds stands in the message of the container.
"""

from __future__ import annotations

import os
import re

from trainway.agent.kubelet.health.disk import disk_problem
from trainway.agent.kubelet.health.gpu_query import PROGRAM, gpu_problem, on_path
from trainway.agent.kubelet.health.verdict import HEALTHY, UNHEALTHY

MESSAGE = "/dev/termination-log"
"""The file of which a kubelet makes the message of a container."""
LONGEST_MESSAGE = 2000
DEVICES = "/dev"
_GPU = re.compile(r"nvidia\d+")


def run(directory: str, gpus: int, message: str = MESSAGE) -> int:
    """Look at the disk and at so many GPUs, and give the exit code."""
    try:
        problem = disk_problem(directory) or gpus_problem(gpus)
    except Exception as error:  # noqa: BLE001 - an error of ours is no fault of the node
        os.write(1, f"the health check itself failed: {error!r}\n".encode())
        return HEALTHY
    os.write(1, (problem or "all well").encode("utf-8", "replace") + b"\n")
    if not problem:
        return HEALTHY
    with open(message, "w", encoding="utf-8") as file:
        file.write(problem[:LONGEST_MESSAGE])
    return UNHEALTHY


def gpus_problem(count: int, devices: str = DEVICES) -> str:
    """What is wrong with the GPUs of the pod, which are numbered from 0 in it; empty: nothing.

    An image may keep nvidia-smi out. Then it is only seen whether the devices are there.
    """
    if on_path(PROGRAM, os.environ.get("PATH") or os.defpath):
        return gpu_problem([str(index) for index in range(count)], os.environ)
    there = len([name for name in os.listdir(devices) if _GPU.fullmatch(name)])
    return "" if there >= count else f"{there} of the {count} GPUs of the pod are there"
