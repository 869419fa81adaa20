"""Where a host has what it knows of the other hosts of an MPI job, and how a command names its pod.

Apart from those who write and use it, since `rsh` starts for every rank and has to be quick.
"""

from __future__ import annotations

FOLDER = "mpi"
KEY, PEERS, KNOWN_HOSTS = f"{FOLDER}/key", f"{FOLDER}/peers.json", f"{FOLDER}/known_hosts"
POD_WORD = "trainway-pod="
"""What stands before the pod's key, in the first word of the command that SSH carries."""
COMMAND_VARIABLE = "SSH_ORIGINAL_COMMAND"


def alias(pod: str) -> str:
    """The name under which `known_hosts` has the host of a pod, whatever its address."""
    return f"trainway-{pod}"
