"""A cluster to be hurt: it notices quickly, and what happens to it can be chosen.

Its operator runs as the service account that it is installed with, and reaches the API server
through a proxy that can be cut.
"""

import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Final

from cluster.access import KubectlError
from cluster.api_requests import BROKEN
from cluster.control_plane import LOOPBACK, status_of
from cluster.identities import CONTEXT
from cluster.node import NodeCluster
from cluster.processes import Process, wait_until
from node_operator import PATIENCE_S, NodeOperator, operator_on
from operator_process import NAMESPACE, ensure_namespace
from tcp_proxy import TcpProxy, proxy_to

from trainway.json_types import Json
from trainway.operator import manifests
from trainway.operator.manifests import Installation

LEASES: Final = "kube-node-lease"


class FragileCluster(NodeCluster):
    """Gives up a node, and the pods on it, within seconds."""

    def __init__(self) -> None:
        reasons = ("not-ready", "unreachable")
        super().__init__(flags=[f"--default-{each}-toleration-seconds=1" for each in reasons])

    def controller_manager_flags(self) -> list[str]:
        flags = ["--node-monitor-period=1s", "--node-monitor-grace-period=10s"]
        return [*super().controller_manager_flags(), *flags]

    def kubelet_settings(self) -> Json:
        return {"nodeStatusUpdateFrequency": "1s", "nodeLeaseDurationSeconds": 4}

    @property
    def kubelet(self) -> Process:
        return next(process for process in self.processes if process.name == "kubelet")


class Tokens:
    """The operator's token: a file, and what makes its content valid."""

    def __init__(self, cluster: FragileCluster, file: Path) -> None:
        self.cluster = cluster
        self.file = file
        self.issued = 0
        file.touch(mode=0o600)

    def renew(self) -> None:
        """Write a token that is good as long as a Secret is there."""
        self.issued += 1
        name = f"token-{self.issued}"
        self.cluster.kubectl("create", "secret", "generic", name, "-n", NAMESPACE)
        bound = ("--bound-object-kind=Secret", f"--bound-object-name={name}")
        arguments = ("create", "token", manifests.NAME, "-n", NAMESPACE, *bound)
        self.file.write_text(self.cluster.kubectl(*arguments).stdout.strip())

    def revoke(self) -> None:
        """Make the token of the file invalid, as it is when it expires."""
        self.cluster.kubectl("delete", "secret", f"token-{self.issued}", "-n", NAMESPACE)
        assert wait_until(self.is_refused, PATIENCE_S)

    def is_refused(self) -> bool:
        status = status_of(self.cluster.connection(), "/api", self.file.read_text())
        return status == HTTPStatus.UNAUTHORIZED


@dataclass(frozen=True)
class Scene:
    """A cluster with the operator in it, and the ways to hurt both."""

    cluster: FragileCluster
    operator: NodeOperator
    proxy: TcpProxy
    tokens: Tokens


@contextmanager
def fragile_scene(folder: Path) -> Iterator[Scene]:
    """A cluster of its own with the operator; the folder is for its files."""
    with FragileCluster() as cluster, proxy_to(cluster.host, cluster.port) as proxy:
        cluster.install_our_crds()
        ensure_namespace(cluster)
        cluster.apply(*manifests.access(Installation()), *manifests.settings(Installation()))
        tokens = Tokens(cluster, folder / "token")
        tokens.renew()
        user = {"tokenFile": str(tokens.file)}
        kubeconfig = write_kubeconfig(cluster, proxy, user, folder / "operator.kubeconfig")
        with operator_on(cluster, ["--kubeconfig", str(kubeconfig)]) as operator:
            yield Scene(cluster, operator, proxy, tokens)
            assert "Traceback" not in operator.process.log


def write_kubeconfig(cluster: FragileCluster, proxy: TcpProxy, user: Json, path: Path) -> Path:
    """A kubeconfig that goes through the proxy; without a user, the administrator's."""
    content = json.loads(cluster.kubeconfig.read_text())
    content["clusters"][0]["cluster"]["server"] = f"https://{LOOPBACK}:{proxy.port}"
    if user:
        content["users"] = [{"name": CONTEXT, "user": user}]
    path.write_text(json.dumps(content))
    return path


def ready(cluster: FragileCluster, node: str) -> str:
    conditions = cluster.get("node", node)["status"]["conditions"]
    return next(str(each["status"]) for each in conditions if each["type"] == "Ready")


@contextmanager
def kubelet_stopped(cluster: FragileCluster) -> Iterator[None]:
    """The node is lost for as long as the block runs; its containers run on."""
    kubelet = cluster.kubelet
    kubelet.stop()
    try:
        yield
    finally:
        kubelet.start()
        cluster.note(kubelet)


@contextmanager
def bystander(cluster: FragileCluster) -> Iterator[None]:
    """A second node that stays well: where all are lost, Kubernetes evicts nobody."""
    name = "bystander"
    condition = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "well"}
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name},
            "spec": {"unschedulable": True},
        }
    )
    status = json.dumps({"status": {"conditions": [condition]}})
    cluster.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", status)
    stop = threading.Event()

    def live() -> None:
        while not stop.wait(1.0):
            now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
            spec = {"holderIdentity": name, "leaseDurationSeconds": 4, "renewTime": now}
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": spec}
            with contextlib.suppress(KubectlError, *BROKEN):  # it is renewed the next time
                cluster.apply({**lease, "metadata": {"name": name, "namespace": LEASES}})

    thread = threading.Thread(target=live)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        cluster.kubectl("delete", "node", name)
