"""Kueue beside a cluster, with its webhooks and its integrations for our kinds of jobs.

It is a process of this machine and no pod, called by URL on loopback. In the cluster it is the
service account that its manifests give it, since our webhooks know it by that name.
"""

import base64
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import yaml

from cluster import builds
from cluster.access import Access, KubectlError
from cluster.control_plane import LOOPBACK, ControlPlane, succeeds_at
from cluster.identities import write_kubeconfig
from cluster.ports import free_port
from cluster.processes import START_SECONDS, Process, wait_until
from cluster.unavailable import UnavailableError
from trainway.json_types import Json

MODULE: Final = "sigs.k8s.io/kueue"
NAMESPACE: Final = "kueue-system"
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
ACCOUNT: Final = "kueue-controller-manager"
FRAMEWORKS: Final = (
    "batch/job",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/mpijob",
    "trainer.kubeflow.org/trainjob",
)
GATES: Final = "VisibilityOnDemand=false"  # it would need an API server of its own
# Its own kinds and those of the integrations; the webhooks of others would never be called.
WEBHOOK_RESOURCES: Final = frozenset(
    {
        *("clusterqueues", "cohorts", "resourceflavors", "workloads"),
        *("jobs", "jobsets", "mpijobs", "trainjobs"),
    }
)
WORKERS: Final = {
    "Job.batch": 5,
    "JobSet.jobset.x-k8s.io": 5,
    "MPIJob.kubeflow.org": 5,
    "TrainJob.trainer.kubeflow.org": 5,
    "Workload.kueue.x-k8s.io": 5,
}
METRICS_CERTIFICATES: Final = Path("kueue", "metrics", "certs")  # below /etc, wherever it runs
CONVERTED: Final = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")


def start_kueue(cluster: ControlPlane, *, qps: float = 1000, burst: int = 2000) -> Process:
    """Install the CRDs, run the controller and register its webhooks."""
    if os.geteuid() != 0:
        raise UnavailableError("kueue: only root can give it the folder that it expects in /etc")
    programs = builds.build(builds.KUBERNETES, ["kueue"])
    source = builds.source_folder(builds.KUBERNETES, MODULE) / "config" / "components"
    serving = cluster.authority.issue("kueue", hosts=[LOOPBACK])
    webhook_port, health_port = free_port(), free_port()
    base = f"https://{LOOPBACK}:{webhook_port}"
    bundle = base64.b64encode(cluster.authority.certificate_file.read_bytes()).decode()
    cluster.install_crds(write_crds(source / "crd" / "bases", cluster.folder, base, bundle))
    certificates = serving.key.parent
    configuration = cluster.folder / "kueue.json"
    configuration.write_text(
        json.dumps(controller_configuration(certificates, webhook_port, health_port, qps, burst))
    )
    command = [
        str(programs / "kueue"),
        f"--config={configuration}",
        f"--feature-gates={GATES}",
        "--zap-log-level=info",
    ]
    process = cluster.launch(
        "kueue",
        with_etc(etc_folder(cluster.folder, certificates), command),
        {"KUBECONFIG": str(account_kubeconfig(cluster))},
    )
    process.wait_ready(lambda: succeeds_at(health_port, "/readyz"))
    text = (source / "webhook" / "manifests.yaml").read_text()
    cluster.apply(*webhooks_by_url(text, base, bundle))
    if not wait_until(lambda: are_called(cluster), START_SECONDS):
        raise UnavailableError(f"the webhooks of Kueue do not answer: {process.last_lines()}")
    return process


def are_called(cluster: ControlPlane) -> bool:
    """Whether the webhooks answer, which they may do later than they say: they hold jobs back."""
    container = {"name": "c", "image": "docker.io/local/none:1"}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "is-asked-about", "labels": {QUEUE_LABEL: "any"}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }
    try:
        return bool(cluster.rehearse(job, "default")["spec"].get("suspend"))
    except KubectlError as error:
        if "failed calling webhook" in str(error):
            return False
        raise


def require_kueue(cluster: Access) -> None:
    """See to it that an existing cluster has Kueue."""
    if not cluster.serves("/apis/kueue.x-k8s.io/v1beta2/clusterqueues"):
        raise UnavailableError("the existing cluster has no Kueue with kueue.x-k8s.io/v1beta2")


def controller_configuration(
    certificates: Path, webhook_port: int, health_port: int, qps: float, burst: int
) -> Json:
    """The configuration file of the controller."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": NAMESPACE,
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": LOOPBACK, "port": webhook_port, "certDir": str(certificates)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{health_port}"},
        "clientConnection": {"qps": qps, "burst": burst},
        "controller": {"groupKindConcurrency": WORKERS},
        "waitForPodsReady": {"timeout": "10m", "blockAdmission": False},
        "integrations": {"frameworks": list(FRAMEWORKS)},
    }


def account_kubeconfig(cluster: ControlPlane) -> Path:
    """A kubeconfig for Kueue's service account, which may do all."""
    cluster.apply(*account())
    arguments = ("create", "token", ACCOUNT, "-n", NAMESPACE, "--duration=24h")
    token = cluster.kubectl(*arguments).stdout.strip()
    path = cluster.folder / "kueue.kubeconfig"
    write_kubeconfig(path, cluster.server, cluster.authority.certificate_file, token)
    return path


def account() -> list[Json]:
    """The namespace, the service account and its rights."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": ACCOUNT, "namespace": NAMESPACE},
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": ACCOUNT},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
        },
    ]


def etc_folder(folder: Path, certificates: Path) -> Path:
    """An `/etc` with nothing but the certificates that Kueue wants there for its metrics."""
    etc = folder / "kueue-etc"
    shutil.copytree(certificates, etc / METRICS_CERTIFICATES)
    return etc


def with_etc(etc: Path, command: Sequence[str]) -> list[str]:
    """The command with another `/etc`, which nobody else sees."""
    script = 'mount --bind "$0" /etc && exec "$@"'
    return ["unshare", "--mount", "--propagation=slave", "sh", "-c", script, str(etc), *command]


def write_crds(bases: Path, folder: Path, base: str, bundle: str) -> Path:
    """The CRDs in a folder, converted between versions by Kueue at this URL."""
    target = folder / "kueue-crds"
    target.mkdir()
    for path in sorted(bases.glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            if document["spec"]["names"]["plural"] in CONVERTED:
                document["spec"]["conversion"] = conversion(base, bundle)
            (target / f"{path.stem}.json").write_text(json.dumps(document))
    return target


def conversion(base: str, bundle: str) -> Json:
    """How the API server gets one version of an object from another."""
    client = {"url": f"{base}/convert", "caBundle": bundle}
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    return {"strategy": "Webhook", "webhook": webhook}


def webhooks_by_url(text: str, base: str, bundle: str) -> Iterator[Json]:
    """Kueue's webhook configurations, with a URL in place of each service."""
    for document in yaml.safe_load_all(text):
        if not document:
            continue
        document["metadata"]["name"] = f"kueue-{document['metadata']['name']}"
        document["webhooks"] = [
            webhook for webhook in document["webhooks"] if webhook_resources(webhook)
        ]
        for webhook in document["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": f"{base}{path}", "caBundle": bundle}
        yield document


def webhook_resources(webhook: Json) -> set[str]:
    """Those resources of a webhook that matter here."""
    named = {name.partition("/")[0] for rule in webhook["rules"] for name in rule["resources"]}
    return named & WEBHOOK_RESOURCES
