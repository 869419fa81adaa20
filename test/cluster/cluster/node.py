"""The *node* size: a whole cluster on this machine that runs real pods.

The node is this machine, at the address of a bridge that pods are attached to. Names of headless
services resolve by CoreDNS at that address, and JobSet's controller runs, so that JobSets work as
on any cluster. Services with an address of their own do not: nothing here needs kube-proxy.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

from cluster import containerd, images
from cluster.cgroups import create_root
from cluster.control_plane import LOOPBACK, RATE, ControlPlane, succeeds_at
from cluster.identities import CONTEXT
from cluster.jobset import start_jobset_controller
from cluster.kubelet import kubelet_configuration
from cluster.network import PLUGINS, create_network, require_network, write_plugin_configuration
from cluster.ports import free_port
from cluster.processes import START_SECONDS, wait_until
from cluster.unavailable import UnavailableError

NODE: Final = "node"
GIVEN: Final = {"serviceaccount": "default", "configmap": "kube-root-ca.crt"}
"""What pods of a namespace need: whoever comes before it is tried again only after a while."""
RUNNING: Final = ("trainjobs", "mpijobs", "jobsets", "jobs", "pods")
"""Kinds whose objects run something; those that make others first."""
COREFILE: Final = """\
cluster.local:53 {{
    bind {address}
    errors
    ready {ready}
    kubernetes cluster.local {{
        kubeconfig {kubeconfig} {context}
        ttl 5
    }}
}}
.:53 {{
    bind {address}
    template ANY ANY {{
        rcode NXDOMAIN
    }}
}}
"""


def share_mounts(folder: Path) -> None:
    """Let what a pod mounts in a volume be seen by others, as on a node that systemd started."""
    for words in (["--bind", str(folder), str(folder)], ["--make-shared", str(folder)]):
        done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UnavailableError(f"mount {' '.join(words)}: {done.stderr.strip()}")


class NodeCluster(ControlPlane):
    """Control plane, one node, DNS and the JobSet controller."""

    size = "node"
    programs = (
        *ControlPlane.programs,
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
        "jobset",
        "coredns",
    )

    @classmethod
    def require(cls) -> None:
        """See to it that the machine has what is not built."""
        super().require()
        if os.geteuid() != 0:
            raise UnavailableError("a node: only root can run pods")
        require_network()
        containerd.require_containerd()
        images.busybox_program()

    def start_parts(self) -> None:
        """The parts in their order: the API server's address is the bridge's."""
        self.network = create_network()
        self.record.bridge = self.network.bridge
        self.record.write()
        self.host = self.network.address
        super().start_parts()
        self.start_kubelet()
        self.install_jobset_crds()  # first: the garbage collector looks for kinds twice a minute
        self.start_controller_manager(["*"])
        self.start_scheduler()
        dns_port = self.start_dns()
        start_jobset_controller(self)
        self.dns.wait_ready(lambda: succeeds_at(dns_port, "/ready"))
        self.wait_for_node()

    def start_meanwhile(self) -> None:
        self.start_containerd()

    def size_flags(self) -> list[str]:
        """Flags of this size: the node has an identity of its own and is called by address."""
        return [
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--enable-aggregator-routing=true",
            "--kubelet-preferred-address-types=InternalIP",
            f"--kubelet-certificate-authority={self.authority.certificate_file}",
            f"--kubelet-client-certificate={self.kubelet_client.certificate}",
            f"--kubelet-client-key={self.kubelet_client.key}",
        ]

    def controller_manager_flags(self) -> list[str]:
        """Each controller has a service account, as in any cluster."""
        return ["--use-service-account-credentials=true", *RATE]

    def start_containerd(self) -> None:
        """Start it and bring the images in."""
        self.socket = self.folder / "containerd.sock"
        configuration = containerd.write_configuration(
            self.folder / "containerd",
            self.socket,
            write_plugin_configuration(self.network, self.folder),
            PLUGINS,
        )
        archives = images.write_images(self.folder / "images")
        process = self.launch("containerd", ["containerd", "--config", str(configuration)])
        process.wait_ready(lambda: containerd.is_serving(self.socket))
        containerd.import_images(self.socket, archives)

    def start_kubelet(self) -> None:
        """Start it; it registers the node."""
        folder = self.folder / "kubelet"
        folder.mkdir()
        share_mounts(folder)
        (folder / "resolv.conf").touch()
        create_root(self.network.bridge)
        address = self.network.address
        configuration = kubelet_configuration(
            folder,
            address=address,
            port=free_port(address),
            socket=self.socket,
            cgroup=self.network.bridge,
            authority=self.authority.certificate_file,
            serving=self.authority.issue("kubelet", hosts=[address, NODE]),
        )
        path = self.folder / "kubelet.json"
        path.write_text(json.dumps(configuration | self.kubelet_settings()))
        self.launch(
            "kubelet",
            [
                str(self.bin / "kubelet"),
                f"--config={path}",
                f"--kubeconfig={self.kubeconfig_of('node')}",
                f"--hostname-override={NODE}",
                f"--node-ip={address}",
                f"--root-dir={folder}",
                f"--cert-dir={folder / 'pki'}",
            ],
        )

    def kubelet_settings(self) -> dict[str, Any]:
        """Changes to the kubelet's configuration."""
        return {}

    def start_dns(self) -> int:
        """Start CoreDNS at the node's address; the port where it says that it is ready."""
        ready = free_port()
        path = self.folder / "Corefile"
        path.write_text(
            COREFILE.format(
                address=self.network.address,
                ready=f"{LOOPBACK}:{ready}",
                kubeconfig=self.kubeconfig,
                context=CONTEXT,
            )
        )
        self.dns = self.launch("coredns", [str(self.bin / "coredns"), "-conf", str(path)])
        return ready

    def wait_for_node(self) -> None:
        """Wait until pods can be started: the node is ready, and has the account they run as."""

        def is_ready() -> bool:
            node = self.find("node", NODE) or {}
            conditions = node.get("status", {}).get("conditions", [])
            return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

        if not wait_until(lambda: is_ready() and self.takes_pods("default"), START_SECONDS):
            kubelet = next(each for each in self.processes if each.name == "kubelet")
            raise UnavailableError(f"the node is not ready: {kubelet.last_lines()}")

    def takes_pods(self, namespace: str) -> bool:
        """Whether a namespace has what the controllers give it and pods are refused without."""
        return all(self.find(kind, name, namespace) for kind, name in GIVEN.items())

    def create_namespace(self, name: str) -> None:
        super().create_namespace(name)
        if not wait_until(lambda: self.takes_pods(name), START_SECONDS):
            raise UnavailableError(f"namespace {name} has no service account")

    def delete_namespace(self, name: str) -> None:
        """End all that runs in it. What is left goes with the cluster.

        To delete a namespace its controller asks for each kind that there is, more than once: that
        takes more of the processor than many a test.
        """
        for kind in self.requests.known(RUNNING):
            self.requests.delete_all(kind, name)
