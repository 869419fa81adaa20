"""The *kwok* size: a cluster of many nodes that only pretend, for tests of scale.

API server, scheduler, Kubernetes' own controllers and JobSet's are the real ones. The nodes are
KWOK's: a pod that is bound to one runs at once and ends after a while, and no process is started
(`kwok_stages.py` has the annotations that say when and how). So a thousand nodes take no more than
this machine.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cluster import builds
from cluster.access import Access
from cluster.control_plane import CONTROLLERS, LOOPBACK, RATE, ControlPlane, succeeds_at
from cluster.identities import User, with_token, write_token_file
from cluster.jobset import start_jobset_controller
from cluster.kwok_stages import DEFAULT_MS, MANAGED, configuration
from cluster.ports import free_port
from cluster.unavailable import UnavailableError
from trainway.json_types import Json

NODES: Final = 100
RESOURCES: Final = {"cpu": "32", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": "8"}
CREATED: Final = 201
OUTPUT: Final = "2026-01-31T12:00:00.000000000Z stdout F hello from a pod that only pretends\n"
# With identities of their own, so that what they ask of the API server can be told apart.
OURS: Final = {
    "operator": User("trainway-operator", ("system:masters",)),
    "server": User("trainway-server", ("system:masters",)),
}


class KwokCluster(ControlPlane):
    """Control plane, scheduler, the controllers of Jobs and JobSets, and fake nodes."""

    size = "kwok"
    programs = (*ControlPlane.programs, "kube-controller-manager", "kube-scheduler", "jobset")

    def __init__(
        self,
        *,
        nodes: int = NODES,
        flags: Sequence[str] = (),
        stays: bool = False,
        runs_for_ms: int = DEFAULT_MS,
    ) -> None:
        """`runs_for_ms`: how long pods run that do not say it."""
        super().__init__(flags=flags, stays=stays)
        self.nodes = nodes
        self.runs_for_ms = runs_for_ms

    @classmethod
    def all_programs(cls) -> tuple[str, ...]:
        """KWOK too."""
        return (*cls.programs, "kwok")

    @classmethod
    def build(cls) -> Path:
        """Build what is missing, KWOK too; gives the folder with Kubernetes' programs."""
        builds.build(builds.KWOK, ["kwok"])
        return super().build()

    def start_parts(self) -> None:
        """The parts in their order: the garbage collector looks for new kinds twice a minute."""
        super().start_parts()
        self.install_our_crds()
        start_jobset_controller(self)
        self.start_controller_manager(CONTROLLERS)
        self.start_scheduler()
        self.start_kwok()
        self.create_nodes()

    def prepare_identities(self) -> None:
        """With our own programs among the users."""
        super().prepare_identities()
        self.users |= {role: with_token(user) for role, user in OURS.items()}
        write_token_file(self.folder / "pki" / "tokens.csv", list(self.users.values()))

    def size_flags(self) -> list[str]:
        """Flags of this size: a node is ready when it says so, since nobody watches over nodes."""
        return [
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            "--feature-gates=WatchList=false",  # else KWOK needs a newer etcd than Debian's
            "--endpoint-reconciler-type=none",
            "--kubelet-preferred-address-types=InternalIP",
            f"--kubelet-certificate-authority={self.authority.certificate_file}",
            f"--kubelet-client-certificate={self.kubelet_client.certificate}",
            f"--kubelet-client-key={self.kubelet_client.key}",
        ]

    def controller_manager_flags(self) -> list[str]:
        """Each controller has a service account, as in any cluster."""
        return ["--use-service-account-credentials=true", "--concurrent-job-syncs=20", *RATE]

    def start_kwok(self) -> None:
        """Start KWOK with our stages."""
        programs = builds.build(builds.KWOK, ["kwok"])
        output, file = self.folder / "pod.log", self.folder / "kwok.yaml"
        output.write_text(OUTPUT)
        file.write_text(configuration(str(output), self.runs_for_ms))
        serving = self.authority.issue("kwok", hosts=[LOOPBACK])
        self.kubelet_port = free_port()
        process = self.launch(
            "kwok",
            [
                str(programs / "kwok"),
                f"--kubeconfig={self.kubeconfig}",
                f"--config={file}",
                f"--server-address={LOOPBACK}:{self.kubelet_port}",
                f"--tls-cert-file={serving.certificate}",
                f"--tls-private-key-file={serving.key}",
            ],
        )
        process.wait_ready(lambda: succeeds_at(self.kubelet_port, "/healthz"))

    def create_nodes(self) -> None:
        """Create all nodes, one after the other on one connection."""
        connection = self.connection()
        headers = {
            "Authorization": f"Bearer {self.users['admin'].token}",
            "Content-Type": "application/json",
        }
        for number in range(self.nodes):
            body = json.dumps(node(number, self.kubelet_port))
            connection.request("POST", "/api/v1/nodes", body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != CREATED:
                raise UnavailableError(f"no node: {text.decode(errors='replace')[:300]}")
        connection.close()


def node(number: int, kubelet_port: int) -> Json:
    """A node as a kubelet would register it, ready; KWOK answers for it."""
    name = f"kwok-{number:04}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **MANAGED}},
        "status": {
            "addresses": [{"type": "InternalIP", "address": LOOPBACK}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
            "allocatable": RESOURCES,
            "capacity": RESOURCES,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "nodeInfo": {"operatingSystem": "linux", "architecture": "amd64"},
        },
    }


class Guest(Access):
    """A cluster as one of its users sees it."""

    def __init__(self, cluster: KwokCluster, role: str) -> None:
        self.bin = cluster.bin
        self.kubeconfig = cluster.kubeconfig_of(role)
