"""`slurm join JOBDIR POD COMMAND`: run a command in a pod of this node.

The pod's own agent starts it, with the environment, mounts and marks of the pod; this process lends
its standard files and takes over the exit status. A pod that is not there yet is waited for.
"""

from __future__ import annotations

import os
import time

from trainway.agent.base.directory import Directory
from trainway.agent.host.join import EXIT_ERROR, NAME, Session, attach
from trainway.agent.slurm.driver.peers import read_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE = 60.0
PAUSE = 0.1


def main(arguments: Sequence[str]) -> int:
    """Run it; the exit status is that of the command."""
    path, pod, command = arguments
    return join(Directory(path), pod, command)


def join(directory: Directory, pod: str, command: str) -> int:
    """Have the agent of a pod on this node run a command for a shell."""
    give_up = time.monotonic() + PATIENCE
    while True:
        home = read_home(directory, pod)
        if home and os.path.exists(f"{home}/{NAME}"):
            job = directory.path.rpartition("/")[2]
            return attach(home, Session(job, pod, command))
        if time.monotonic() > give_up:
            os.write(2, f"trainway: pod {pod} does not run on this node\n".encode())
            return EXIT_ERROR
        time.sleep(PAUSE)
