"""A second API server of a cluster, on the same etcd, as large clusters have several.

A test kills the one that its subject talks to, while all others go on with the first: Kubernetes'
own controllers wait up to a minute after some outages, and there would be nothing to disturb.
"""

import signal

from cluster.access import Access
from cluster.control_plane import ControlPlane
from cluster.identities import write_kubeconfig
from cluster.ports import free_port
from cluster.processes import Process

PORT_FLAG = "--secure-port="


class ApiReplica(Access):
    """An API server beside the cluster's own, with a kubeconfig that leads to it."""

    def __init__(self, cluster: ControlPlane, role: str = "admin") -> None:
        self.cluster = cluster
        self.bin = cluster.bin
        self.port = free_port(cluster.host)
        self.kubeconfig = cluster.folder / f"replica-{self.port}.kubeconfig"
        server = f"https://{cluster.host}:{self.port}"
        authority = cluster.authority.certificate_file
        write_kubeconfig(self.kubeconfig, server, authority, cluster.users[role].token)
        self.process: Process | None = None

    def start_api_server(self) -> None:
        """Start it and wait until it serves. It ends with the thread that calls this."""
        command = [
            f"{PORT_FLAG}{self.port}" if word.startswith(PORT_FLAG) else word
            for word in self.cluster.api_server_command()
        ]
        self.process = self.cluster.launch("kube-apiserver-replica", command)
        self.process.wait_ready(lambda: self.cluster.answers("/readyz", self.port))

    def kill_api_server(self) -> None:
        """Kill it as a crash would."""
        if self.process is not None:
            self.process.stop(signal.SIGKILL)
            self.cluster.processes.remove(self.process)
            self.process = None

    def restart_api_server(self) -> None:
        """Kill it and start it again on the same port."""
        self.kill_api_server()
        self.start_api_server()
