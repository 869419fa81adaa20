"""LeaderWorkerSet's own controller beside a cluster, with its webhooks, as JobSet's is.

It is there for as long as a block runs: a data cache is a LeaderWorkerSet wherever that is
installed, and other tests want to see it as a JobSet.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cluster import builds
from cluster.access import Access, KubectlError
from cluster.control_plane import LOOPBACK, ControlPlane, succeeds_at
from cluster.jobset import controller_configuration, webhooks_by_url
from cluster.ports import free_port
from cluster.processes import START_SECONDS, Process, wait_until
from cluster.unavailable import UnavailableError

MODULE: Final = "sigs.k8s.io/lws"
PROGRAM: Final = "lws"
CONFIGURATION: Final = "config.lws.x-k8s.io/v1alpha1"
API: Final = "leaderworkerset.x-k8s.io/v1"
POD_LABEL: Final = "leaderworkerset.sigs.k8s.io/name"
CRD: Final = "leaderworkersets.leaderworkerset.x-k8s.io"


@contextmanager
def leader_worker_sets(cluster: ControlPlane) -> Iterator[Process]:
    """The controller with CRD and webhooks; all of it is gone when the block ends."""
    programs = builds.build(builds.KUBERNETES, [PROGRAM])
    source = builds.source_folder(builds.KUBERNETES, MODULE) / "config"
    cluster.install_crds(source / "crd" / "bases")
    serving = cluster.authority.issue(PROGRAM, hosts=[LOOPBACK])
    webhook_port, health_port = free_port(), free_port()
    configuration = cluster.folder / "lws.json"
    configuration.write_text(
        json.dumps(
            controller_configuration(
                CONFIGURATION, str(serving.key.parent), webhook_port, health_port
            )
        )
    )
    process = cluster.launch(
        PROGRAM,
        [str(programs / PROGRAM), f"--config={configuration}", "--zap-log-level=info"],
        {"KUBECONFIG": str(cluster.kubeconfig)},
    )
    process.wait_ready(lambda: succeeds_at(health_port, "/readyz"))
    bundle = base64.b64encode(cluster.authority.certificate_file.read_bytes()).decode()
    text = (source / "webhook" / "manifests.yaml").read_text()
    base = f"https://{LOOPBACK}:{webhook_port}"
    webhooks = webhooks_by_url(text, base, bundle, PROGRAM, POD_LABEL)
    cluster.apply(*webhooks)
    if not wait_until(lambda: are_called(cluster), START_SECONDS):
        raise UnavailableError(f"LeaderWorkerSet's webhooks do not answer: {process.last_lines()}")
    try:
        yield process
    finally:
        for document in webhooks:
            cluster.kubectl("delete", document["kind"], document["metadata"]["name"])
        cluster.kubectl("delete", "customresourcedefinition", CRD)
        process.stop()


def are_called(cluster: Access) -> bool:
    """Whether the webhooks answer, which they may do later than they say: they set a default."""
    container = {"name": "c", "image": "docker.io/local/none:1"}
    group = {"size": 1, "workerTemplate": {"spec": {"containers": [container]}}}
    wanted = {
        "apiVersion": API,
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "is-asked-about"},
        "spec": {"leaderWorkerTemplate": group},
    }
    try:
        return "networkConfig" in cluster.rehearse(wanted, "default")["spec"]
    except KubectlError as error:
        if "failed calling webhook" in str(error):
            return False
        raise


def require_leader_worker_sets(cluster: Access) -> None:
    """See to it that an existing cluster has LeaderWorkerSet."""
    if not cluster.serves(f"/apis/{API}/leaderworkersets"):
        raise UnavailableError(f"the existing cluster has no LeaderWorkerSet with {API}")
