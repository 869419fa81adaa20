"""JobSet's own controller beside a cluster, with its webhooks.

The webhooks are needed: they set defaults that the controller relies on. They are called by URL on
loopback, since the controller is a process of this machine and no pod.
"""

import base64
import json
from typing import Any, Final

import yaml

from cluster import builds
from cluster.access import KubectlError
from cluster.control_plane import LOOPBACK, ControlPlane, succeeds_at
from cluster.ports import free_port
from cluster.processes import START_SECONDS, wait_until
from cluster.unavailable import UnavailableError
from trainway.json_types import Json

MODULE: Final = "sigs.k8s.io/jobset"
CONFIGURATION: Final = "config.jobset.x-k8s.io/v1alpha1"
POD_LABEL: Final = "jobset.sigs.k8s.io/jobset-name"


def start_jobset_controller(cluster: ControlPlane) -> None:
    """Install the CRD, run the controller and register its webhooks."""
    programs = builds.build(builds.KUBERNETES, ["jobset"])
    cluster.install_jobset_crds()
    serving = cluster.authority.issue("jobset", hosts=[LOOPBACK])
    webhook_port, health_port = free_port(), free_port()
    configuration = cluster.folder / "jobset.json"
    configuration.write_text(
        json.dumps(
            controller_configuration(
                CONFIGURATION, str(serving.key.parent), webhook_port, health_port
            )
        )
    )
    process = cluster.launch(
        "jobset",
        [str(programs / "jobset"), "--config", str(configuration), "--zap-log-level=error"],
        {"KUBECONFIG": str(cluster.kubeconfig)},
    )
    process.wait_ready(lambda: succeeds_at(health_port, "/readyz"))
    bundle = base64.b64encode(cluster.authority.certificate_file.read_bytes()).decode()
    source = builds.source_folder(builds.KUBERNETES, MODULE)
    text = (source / "config" / "components" / "webhook" / "manifests.yaml").read_text()
    cluster.apply(*webhooks_by_url(text, f"https://{LOOPBACK}:{webhook_port}", bundle))
    if not wait_until(lambda: are_called(cluster), START_SECONDS):
        raise UnavailableError(f"the webhooks of JobSet do not answer: {process.last_lines()}")


def are_called(cluster: ControlPlane) -> bool:
    """Whether the webhooks answer, which they may do later than they say: they set a default."""
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "is-asked-about"},
        "spec": {"replicatedJobs": []},
    }
    try:
        return "successPolicy" in cluster.rehearse(jobset, "default")["spec"]
    except KubectlError as error:
        if "failed calling webhook" in str(error):
            return False
        raise


def controller_configuration(
    version: str, certificates: str, webhook_port: int, health_port: int
) -> Json:
    """The configuration file of a controller, in its own version of it."""
    return {
        "apiVersion": version,
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": LOOPBACK, "port": webhook_port, "certDir": certificates},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{health_port}"},
    }


def webhooks_by_url(
    text: str, base: str, bundle: str, owner: str = "jobset", pod_label: str = POD_LABEL
) -> list[dict[str, Any]]:
    """The webhook configurations of a controller, with a URL in place of each service."""
    documents = [each for each in yaml.safe_load_all(text) if each]
    for document in documents:
        document["metadata"]["name"] = f"{owner}-{document['metadata']['name']}"
        for webhook in document["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": f"{base}{path}", "caBundle": bundle}
            if webhook["rules"][0]["resources"] == ["pods"]:
                # Upstream's kustomization adds it: else no pod starts without the controller.
                expression = {"key": pod_label, "operator": "Exists"}
                webhook["objectSelector"] = {"matchExpressions": [expression]}
    return documents
