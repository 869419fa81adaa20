"""`slurm host FOLDER`: be the host agent of a node that a cluster holds, as a task of its job.

It has no other way in than steps of the same job, and what it has is what Slurm gave the task.
"""

from __future__ import annotations

import os

from trainway.agent.base import launch
from trainway.agent.host import server
from trainway.agent.host.facts import addresses as own_addresses
from trainway.agent.slurm.allocation import AllocationError
from trainway.agent.slurm.driver.step_node import pod_environment
from trainway.agent.slurm.hosts import addresses, run
from trainway.agent.slurm.srun import NODE_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainway.agent.slurm.hosts import Run

FOREVER = float("inf")
DEVICES = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
LOOPBACK = ("127.", "::1")


def main(arguments: Sequence[str]) -> int:
    """Be the agent until the job ends; the exit status."""
    (folder,) = arguments
    node = os.environ.get(NODE_VARIABLE) or os.uname().nodename
    own = {"gpus": devices(os.environ), "address": address(node, run(os.environ))}
    kept = pod_environment(os.environ)
    os.environ.clear()
    os.environ.update(kept)
    return server.run(f"{folder}/{node}", launch.digest(), FOREVER, _say, own)


def _say(text: bytes) -> None:
    os.write(1, text + b"\n")


def devices(environ: Mapping[str, str]) -> list[str]:
    """The GPUs that Slurm gave the task, as it tells every program."""
    given = next((environ[name] for name in DEVICES if environ.get(name)), "")
    return [name for name in given.split(",") if name and name != "NoDevFiles"]


def address(node: str, output: Run) -> str:
    """Where the other nodes reach this one."""
    try:
        found = addresses([node], node, output)[node]
    except AllocationError as error:
        os.write(2, f"{error}\n".encode())
        found = ""
    others = own_addresses()
    return others[0] if others and (not found or found.startswith(LOOPBACK)) else found
