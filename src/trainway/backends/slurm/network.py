"""Where the pods of a job on Slurm find each other: by the names that they have in a cluster.

The driver of the job knows the hosts of the allocation and writes them into a hosts file of the
job's own, as hosts of a pool do.
"""

from dataclasses import dataclass
from typing import Final

from trainway.compiler.network import KubernetesNetwork

REMOTE_SHELL: Final = "trainway-srun"
"""The program on the PATH of every pod that runs a command in another one, as a step of the
allocation."""
FIRST_PORT: Final = 20_000
LAST_PORT: Final = 29_999


@dataclass(frozen=True)
class SlurmNetwork(KubernetesNetwork):
    """Pods on nodes of one allocation."""

    remote_shell: str = REMOTE_SHELL
    cloud: str = "slurm"
