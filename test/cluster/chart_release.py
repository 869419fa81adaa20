"""Our chart on a node cluster of its own: the operator runs in pods there, from its own image.

The cluster has no kube-proxy. The API server finds the pods behind a Service by itself; the pods
are told its address, as on clusters whose network does without kube-proxy.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cluster.access import KubectlError
from cluster.helm import CHART, NAMESPACE, Helm, settings
from cluster.node import NodeCluster
from cluster.operator_image import load_image
from cluster.processes import wait_until
from node_operator import OperatedCluster

from trainway import __version__
from trainway.json_types import Json
from trainway.operator import manifests

RELEASE: Final = "trainway"
REPOSITORY: Final = "docker.io/trainway/operator"
PREVIOUS: Final = "0.0.1"
SELECTOR: Final = "app.kubernetes.io/component=manager"
PATIENCE_S: Final = 120.0
# A lease that is given up soon, so that a test need not wait long for the next leader, and not by
# one that only has to wait for the processor; and enough of that to answer probes.
QUICK: Final = (
    "resources.requests.cpu=500m",
    "config.leaderElection.leaseDuration=8s",
    "config.leaderElection.renewDeadline=6s",
    "config.leaderElection.retryPeriod=1s",
)


class Release(OperatedCluster):
    """A cluster with the chart, and what tests do with both."""

    def __init__(self, cluster: NodeCluster, helm: Helm) -> None:
        self.node = cluster
        self.helm = helm
        super().__init__(cluster, self._pods_log)

    def install(self, *values: str, chart: Path = CHART, flags: Sequence[str] = ()) -> None:
        """`helm install`, and wait until the pods are ready."""
        place = ("-n", NAMESPACE, "--create-namespace")
        self.helm("install", RELEASE, str(chart), *place, *flags, *self._flags(values))

    def upgrade(self, *values: str, chart: Path = CHART) -> None:
        """`helm upgrade` with these values alone, and wait until the pods are ready."""
        self.helm("upgrade", RELEASE, str(chart), "-n", NAMESPACE, *self._flags(values))

    def create(self, namespace: str, *objects: Json) -> None:
        """Create objects; on a busy machine a pod may be ready before its Service knows of it."""

        def are_created() -> bool:
            try:
                super(Release, self).create(namespace, *objects)
            except KubectlError as error:
                if "failed calling webhook" in str(error):
                    return False
                raise
            return True

        assert wait_until(are_created, PATIENCE_S), self.report(namespace)

    def uninstall(self) -> None:
        """`helm uninstall`, and wait until everything is gone."""
        self.helm("uninstall", RELEASE, "-n", NAMESPACE, "--wait")

    def clear(self) -> None:
        """Remove the release, if there is one, and all that it leaves."""
        self.helm("uninstall", RELEASE, "-n", NAMESPACE, "--wait", "--ignore-not-found")
        kinds = [obj["metadata"]["name"] for obj in manifests.crds()]
        self.cluster.kubectl("delete", "crd", "--ignore-not-found", *kinds)
        self.cluster.kubectl("delete", "namespace", "--ignore-not-found", NAMESPACE)

    def _pods_log(self) -> str:
        flags = ("-l", SELECTOR, "--tail=-1", "--prefix")
        return self.cluster.kubectl("logs", "-n", NAMESPACE, *flags, check=False).stdout

    def _flags(self, values: Sequence[str]) -> list[str]:
        address = {
            "KUBERNETES_SERVICE_HOST": self.node.host,
            "KUBERNETES_SERVICE_PORT": str(self.node.port),
        }
        variables = [{"name": name, "value": value} for name, value in address.items()]
        path = self.helm.folder / "values.json"
        path.write_text(json.dumps({"extraEnv": variables}))
        return ["--wait", "--timeout=6m", "-f", str(path), *settings([*QUICK, *values])]

    def operator_pods(self) -> list[Json]:
        """The pods of the operator that are ready and stay."""
        pods = self.cluster.get("pods", "-n", NAMESPACE, "-l", SELECTOR)["items"]
        return [pod for pod in pods if is_ready(pod) and "deletionTimestamp" not in pod["metadata"]]

    def leader(self) -> str:
        """The pod that runs the controllers."""
        lease = self.cluster.get("lease", manifests.LEASE, "-n", NAMESPACE)
        return str((lease.get("spec") or {}).get("holderIdentity") or "").partition("_")[0]

    def wait_leader(self, other_than: str = "") -> str:
        """Wait until a pod leads, other than that one."""
        found = ""

        def leads() -> bool:
            nonlocal found
            found = self.leader()
            return found not in ("", other_than)

        assert wait_until(leads, PATIENCE_S), self.operator_log()
        return found


def is_ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


@contextmanager
def release_cluster(folder: Path, flags: Sequence[str] = ()) -> Iterator[Release]:
    """A cluster with the image, on which nothing is installed yet."""
    helm = Helm(folder)
    with NodeCluster(flags=flags) as cluster:
        helm.cluster = cluster
        load_image(cluster, *(f"{REPOSITORY}:{tag}" for tag in (__version__, PREVIOUS)))
        yield Release(cluster, helm)
