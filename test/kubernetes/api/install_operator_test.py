"""`trainway operator install` and `uninstall` on a real API server, and what they leave."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest
import yaml
from cluster.access import Access
from cluster.control_plane import ControlPlane
from cluster.fixtures import ON_EXISTING, running
from cluster.ports import free_port
from cluster.processes import wait_until

from trainway.json_types import Json
from trainway.operator import manifests
from trainway.operator.install import label
from trainway.operator.manifests import Installation
from trainway.operator.webhook_configurations import url_client, webhook_configurations
from trainway.runtimes import names

SYSTEM: Final = "kubeflow-system"
HOST: Final = "127.0.0.1"
PATIENCE_S: Final = 120.0
INSTALLED: Final = {label(obj) for obj in manifests.everything(Installation())}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Access]:
    """One of its own: the operator is installed once for a whole cluster."""
    if ON_EXISTING:
        pytest.skip("it would remove all jobs of the existing cluster")
    for cluster in running(ControlPlane):
        assert isinstance(cluster, ControlPlane)
        cluster.install_jobset_crds()
        user = "--user=system:kube-controller-manager"
        cluster.kubectl("create", "clusterrolebinding", "m", "--clusterrole=cluster-admin", user)
        cluster.start_controller_manager(["namespace-controller"])
        yield cluster


def operator(cluster: Access, *arguments: str) -> list[str]:
    """Run a command of the operator; the lines it prints."""
    command = [sys.executable, "-m", "trainway.operator", *arguments]
    command += ["--kubeconfig", str(cluster.kubeconfig)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def outcomes(lines: list[str]) -> dict[str, str]:
    return dict(line.rsplit(" ", 1) for line in lines)


MANIFESTS: Final = Path(__file__).parents[3] / "manifests"
TRAINJOB: Final = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "job", "namespace": "default"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}},
}


def test_it_is_installed_removed_and_installed_again(cluster: Access) -> None:
    assert outcomes(operator(cluster, "install")) == dict.fromkeys(INSTALLED, "created")
    again = outcomes(operator(cluster, "install"))
    assert again == dict.fromkeys(INSTALLED, "unchanged")
    found = {item["metadata"]["name"] for item in cluster.get("clustertrainingruntimes")["items"]}
    assert found == set(names())

    lines = operator(cluster, "install", "--image=example/operator:2", "--user-roles")
    for task in ("view", "run", "exec"):
        assert f"clusterrole.rbac.authorization.k8s.io/trainway-{task} created" in lines
    assert f"deployment.apps/{manifests.NAME} configured" in lines
    deployment = cluster.get("deployment", manifests.NAME, "-n", SYSTEM)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "example/operator:2"

    # The API server learns of webhooks a moment after they are made, or gone.
    silent = 'failed calling webhook "validator.trainjob.trainer.kubeflow.org"'
    assert wait_until(lambda: silent in refusal(cluster), PATIENCE_S)

    lines = operator(cluster, "uninstall")
    assert lines[-2:] == [
        "kept: custom resource definitions, jobs and runtimes (--crds removes them)",
        f"kept: namespace {SYSTEM}",
    ]
    assert wait_until(lambda: not refusal(cluster), PATIENCE_S)
    cluster.apply(TRAINJOB)
    assert f"deployment.apps/{manifests.NAME} not found" in operator(cluster, "uninstall")

    outcome = outcomes(operator(cluster, "install"))
    assert {name for name, what in outcome.items() if what == "unchanged"} == {
        name
        for name in outcome
        if name.startswith(("customresource", "clustertrainingruntime", "namespace/"))
    }
    cluster.kubectl("label", "trainjob", "job", "a=b")

    lines = operator(cluster, "uninstall", "--crds")
    assert f"namespace/{SYSTEM} deleted" in lines
    crd = "customresourcedefinition.apiextensions.k8s.io/trainjobs.trainer.kubeflow.org"
    assert f"{crd} deleted" in lines
    assert wait_until(lambda: "trainjobs" not in kinds(cluster), PATIENCE_S)
    assert "jobsets.jobset.x-k8s.io" in kinds(cluster)


def refusal(cluster: Access) -> str:
    """What the API server has against a TrainJob; nothing is created."""
    create = ("create", "--dry-run=server", "-f", "-")
    return cluster.kubectl(*create, input=json.dumps(TRAINJOB), check=False).stderr


def kinds(cluster: Access) -> str:
    return cluster.kubectl("api-resources", "-o", "name").stdout


# The installed rights


def kubeconfig_of_operator(cluster: Access, folder: Path) -> Path:
    """Of the service account that the Deployment has."""
    token = cluster.kubectl("create", "token", manifests.NAME, "-n", SYSTEM).stdout.strip()
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    path = folder / "operator.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


@contextlib.contextmanager
def operator_with_installed_rights(cluster: Access, folder: Path) -> Iterator[Path]:
    """The operator as its service account, outside the cluster; gives its log."""
    port, log = free_port(), folder / "log"
    for kind in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"):
        cluster.kubectl("delete", kind, "--all")
    cluster.apply(*webhook_configurations(url_client(f"https://{HOST}:{port}")))
    command = [sys.executable, "-m", "trainway.operator", "run", "--leader-elect"]
    command += ["--kubeconfig", str(kubeconfig_of_operator(cluster, folder))]
    command += ["--operator-namespace", SYSTEM, "--webhook-host", HOST, "--webhook-port", str(port)]
    command += ["--metrics-bind-address", "0", "--health-probe-bind-address", "0"]
    with log.open("w") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        try:
            yield log
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def job(name: str, runtime: str) -> Json:
    annotations = {"trainway.dev/ttl-seconds-after-finished": "0"}
    metadata = {"name": name, "namespace": "default", "annotations": annotations}
    spec = {"runtimeRef": {"name": runtime}, "trainer": {"numNodes": 2}}
    return {**TRAINJOB, "metadata": metadata, "spec": spec}


def mpijob(name: str) -> Json:
    template = {"spec": {"containers": [{"name": "mpi", "image": "i"}]}}
    roles = {"Launcher": {"template": template}, "Worker": {"replicas": 2, "template": template}}
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"mpiReplicaSpecs": roles, "runPolicy": {"ttlSecondsAfterFinished": 0}},
    }


def complete(cluster: Access, name: str) -> None:
    """Say that a JobSet has completed, as its controller would."""
    condition = {
        "type": "Completed",
        "status": "True",
        "reason": "AllJobsCompleted",
        "message": "jobset completed successfully",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    body = json.dumps({"status": {"conditions": [condition], "terminalState": "Completed"}})
    cluster.kubectl("patch", "jobset", name, "--subresource=status", "--type=merge", "-p", body)


def test_manifests_applied_with_kubectl_give_the_operator_all_rights_it_needs(
    cluster: Access, tmp_path: Path
) -> None:
    cluster.install_crds(MANIFESTS / "crds")
    apply = ("apply", "--server-side", "--force-conflicts", "-o", "name", "-k")
    applied = [
        line
        for folder in ("crds", "overlays/ha", "runtimes")
        for line in cluster.kubectl(*apply, str(MANIFESTS / folder)).stdout.splitlines()
    ]
    assert {line.partition("/")[2] for line in applied} == {
        name.partition("/")[2] for name in INSTALLED
    }
    jobs = [job("torch", "torch-distributed"), job("deep", "deepspeed-distributed"), mpijob("mpi")]
    with operator_with_installed_rights(cluster, tmp_path) as log:

        def is_made(obj: Json) -> bool:
            made = cluster.kubectl("create", "-f", "-", input=json.dumps(obj), check=False)
            return made.returncode == 0

        def exists(kind: str, name: str, namespace: str = "default") -> bool:
            return cluster.find(kind, name, namespace) is not None

        for obj in jobs:
            assert wait_until(partial(is_made, obj), PATIENCE_S), log.read_text()
        for obj in jobs:
            name = obj["metadata"]["name"]
            assert wait_until(partial(exists, "jobset", name), PATIENCE_S), log.read_text()
        assert exists("secret", "deep-mpi-ssh-auth")
        assert exists("configmap", "torch-runtime-snapshot")
        for obj in jobs[:2]:
            name = obj["metadata"]["name"]
            complete(cluster, name)
            gone = ("--for=delete", f"trainjob/{name}", f"--timeout={PATIENCE_S:g}s")
            cluster.kubectl("wait", *gone)
        assert wait_until(partial(exists, "lease", manifests.LEASE, SYSTEM), PATIENCE_S)
    text = log.read_text()
    assert "forbidden" not in text.lower()
    assert "cannot" not in text
