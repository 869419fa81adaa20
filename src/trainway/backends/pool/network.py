"""Where the pods of a job on SSH hosts find each other: by the names that they have in a cluster.

A hosts file of the job's own makes them resolve on each host (`trainway.agent.kubelet.host_names`).
"""

from dataclasses import dataclass
from typing import Final

from trainway.compiler.network import KubernetesNetwork

REMOTE_SHELL: Final = "trainway-rsh"
"""The program on the PATH of every pod that runs a command in another one."""


@dataclass(frozen=True)
class PoolNetwork(KubernetesNetwork):
    """Pods on several hosts, of which each may have pods of other jobs too."""

    remote_shell: str = REMOTE_SHELL
    cloud: str = "ssh"
