"""The *node* size: a whole cluster on this machine that runs real pods.

The node is this machine, at the address of a bridge that pods are attached to. Names of headless
services resolve by CoreDNS at that address, and JobSet's controller runs, so that JobSets work as
on any cluster. Services with an address of their own do not: nothing here needs kube-proxy.
"""

import json
import os
from typing import Any, Final

from cluster import containerd, images
from cluster.cgroups import create_root
from cluster.control_plane import LOOPBACK, ControlPlane, succeeds_at
from cluster.identities import CONTEXT
from cluster.jobset import start_jobset_controller
from cluster.kubelet import kubelet_configuration
from cluster.network import PLUGINS, create_network, require_network, write_plugin_configuration
from cluster.ports import free_port
from cluster.processes import wait_until
from cluster.unavailable import UnavailableError

NODE: Final = "node"
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
        self.start_containerd()
        self.start_kubelet()
        self.start_controller_manager(["*"])
        self.start_scheduler()
        self.start_dns()
        start_jobset_controller(self)
        self.wait_for_node()

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
        return ["--use-service-account-credentials=true"]

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
        process.wait_ready(lambda: containerd.is_serving(self.socket), 30)
        containerd.import_images(self.socket, archives)

    def start_kubelet(self) -> None:
        """Start it; it registers the node."""
        folder = self.folder / "kubelet"
        folder.mkdir()
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

    def start_dns(self) -> None:
        """Start CoreDNS at the node's address."""
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
        process = self.launch("coredns", [str(self.bin / "coredns"), "-conf", str(path)])
        process.wait_ready(lambda: succeeds_at(ready, "/ready"), 30)

    def wait_for_node(self) -> None:
        """Wait until pods can be started: the node is ready, and has the account they run as."""

        def is_ready() -> bool:
            done = self.kubectl("get", "node", NODE, "-o", "json", check=False)
            if done.returncode != 0:
                return False
            conditions = json.loads(done.stdout)["status"].get("conditions", [])
            ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
            account = self.kubectl("get", "serviceaccount", "default", check=False)
            return ready and account.returncode == 0

        if not wait_until(is_ready, 60):
            kubelet = next(each for each in self.processes if each.name == "kubelet")
            raise UnavailableError(f"the node is not ready: {kubelet.last_lines()}")
