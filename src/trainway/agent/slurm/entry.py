"""`slurm ...`: the programs of a Slurm cluster.

slurm relay --home DIR      serve a server over standard input and output, on the login node
slurm rest URL USER         print the queue as squeue would, asked of slurmrestd
slurm drive JOBDIR ...      be the batch script of a job
slurm pod JOBDIR            be one task of a step
slurm annex JOBDIR TOKEN    hold a node that an elastic job got later
slurm pack JOBDIR PARCEL    make one file of a job, for nodes that do not see it
slurm feed JOBDIR           send what a job writes on such a node
slurm rsh JOBDIR ...        reach another pod of the same job, for MPI
slurm join JOBDIR ...       run a command beside a pod
slurm host FOLDER           be the host agent of a node that a cluster holds
"""

from __future__ import annotations

import os
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = "usage: slurm relay|rest|drive|pod|annex|pack|feed|rsh|join|host ..."
EXIT_USAGE = 2
PROGRAMS = {
    "relay": "slurm.relay.relay",
    "rest": "slurm.relay.rest_query",
    "drive": "slurm.driver.drive",
    "pod": "slurm.driver.step_pod",
    "annex": "slurm.driver.annex",
    "pack": "transfer.parcel",
    "feed": "slurm.files.feed",
    "rsh": "slurm.driver.rsh",
    "join": "slurm.driver.join",
    "host": "slurm.held_node",
}


def main(arguments: Sequence[str]) -> int:
    """Do what the words say; the exit status."""
    name, *rest = arguments or [""]
    if name not in PROGRAMS:
        os.write(2, USAGE.encode() + b"\n")
        return EXIT_USAGE
    status: int = import_module(f"trainway.agent.{PROGRAMS[name]}").main(rest)
    return status
