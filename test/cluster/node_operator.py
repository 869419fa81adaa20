"""The operator on the *node* cluster, and what its jobs need to run real programs in pods.

Pods have no image with torch or MPI. They mount this machine's `/usr`, its Python and an
environment with the frameworks into an image that is only a frame: so the node must be this
machine, also where an existing cluster is used.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from cluster.access import REPOSITORY, Access, KubectlError
from cluster.images import BUSYBOX, HOSTROOT
from cluster.node import NodeCluster
from cluster.processes import wait_until
from environments import TORCH, environment
from host_programs import probe_at_once
from operator_process import (
    NAMESPACE,
    OperatorProcess,
    ensure_namespace,
    wait_for_trust,
    webhooks_at,
)

from trainway.json_types import Json
from trainway.operator import manifests
from trainway.operator.config import CertConfig, StatusServerConfig
from trainway.operator.manifests import Installation
from trainway.operator.webhook_configurations import url_client, webhook_configurations
from trainway.runtimes import builtin_runtime

PATIENCE_S: Final = 180.0
EXAMPLES: Final = REPOSITORY / "examples"
KUEUE_WEBHOOK: Final = '"vtrainjob.kb.io"'
ENDS: Final = ("Complete", "Succeeded", "Failed")
ANCESTOR_STEP: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
INITIALIZER_IMAGES: Final = {
    step: f"docker.io/trainway/{step}:1" for step in ("dataset-initializer", "model-initializer")
}
"""What the operator of tests puts in the place of upstream's; a test that runs them loads them."""


class OperatedCluster:
    """A cluster whose TrainJobs and MPIJobs our operator runs."""

    def __init__(self, cluster: Access, operator_log: Callable[[], str]) -> None:
        self.cluster = cluster
        self.operator_log = operator_log

    def create(self, namespace: str, *objects: Json) -> None:
        """Create the objects in the namespace."""
        for each in objects:
            self.when_known(namespace, partial(self.cluster.apply, each, namespace=namespace))

    def when_known(self, namespace: str, ask: Callable[[], object]) -> None:
        """Ask until Kueue knows the runtime of a job: its webhook reads from a cache."""

        def is_known() -> bool:
            try:
                ask()
            except KubectlError as error:
                if KUEUE_WEBHOOK in str(error) and "not found" in str(error):
                    return False
                raise
            return True

        self.wait(namespace, is_known, "Kueue knows the runtime")

    def job(self, kind: str, namespace: str, name: str) -> Json | None:
        """A job as it is now; None if it is gone."""
        return self.cluster.find(kind, name, namespace)

    def pods(self, namespace: str) -> list[Json]:
        """The pods that are there and not being deleted."""
        items: list[Json] = self.cluster.get("pods", "-n", namespace)["items"]
        return [pod for pod in items if "deletionTimestamp" not in pod["metadata"]]

    def wait_gone(self, namespace: str) -> None:
        """Wait until no pod is left, also none that is being deleted."""
        self.wait(
            namespace, lambda: not self.cluster.get("pods", "-n", namespace)["items"], "no pods"
        )

    def wait(self, namespace: str, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition; if it does not come, say what the namespace looks like."""
        if not wait_until(condition, PATIENCE_S):
            raise AssertionError(f"not within {PATIENCE_S:g} s: {what}\n{self.report(namespace)}")

    def wait_condition(
        self, kind: str, namespace: str, name: str, type_: str, status: str = "True"
    ) -> Json:
        """Wait until the job has a condition, or ends otherwise; the condition."""
        found: list[Json] = []

        def has() -> bool:
            job = self.job(kind, namespace, name) or {}
            conditions = job.get("status", {}).get("conditions", [])
            ended = [c for c in conditions if c["type"] in ENDS and c["status"] == "True"]
            found[:] = [c for c in conditions if c["type"] == type_ and c["status"] == status]
            return bool(found or ended)

        what = f"{kind} {name} is {type_} {status}"
        self.wait(namespace, has, what)
        assert found, f"it is not: {what}\n{self.report(namespace)}"
        return found[0]

    def wait_running(self, namespace: str, number: int) -> list[Json]:
        """Wait until so many pods run; the pods."""
        found: list[Json] = []

        def running() -> bool:
            found[:] = [p for p in self.pods(namespace) if p["status"]["phase"] == "Running"]
            return len(found) == number

        self.wait(namespace, running, f"{number} pods run")
        return found

    def log(self, namespace: str, selector: str) -> str:
        """What the pods wrote."""
        arguments = ("logs", "-n", namespace, "-l", selector, "--tail=-1", "--prefix=false")
        return self.cluster.kubectl(*arguments).stdout

    def report(self, namespace: str) -> str:
        """For a test that failed: jobs, pods, their output, events, and the operator's log."""
        kinds = "trainjobs,mpijobs,jobsets,jobs,pods"
        parts = [
            self.cluster.kubectl("get", kinds, "-n", namespace, check=False).stdout,
            self.cluster.kubectl("get", "events", "-n", namespace, check=False).stdout,
        ]
        for pod in self.pods(namespace):
            name = pod["metadata"]["name"]
            arguments = ("logs", "-n", namespace, name, "--all-containers", "--tail=20")
            done = self.cluster.kubectl(*arguments, check=False)
            parts.append(f"{name}:\n{done.stdout}{done.stderr}")
        return "\n".join([*parts, self.operator_log()[-2000:]])


class NodeOperator(OperatedCluster):
    """A cluster with our operator as a process of this machine."""

    def __init__(self, cluster: Access, process: OperatorProcess) -> None:
        super().__init__(cluster, lambda: process.log)
        self.process = process


@pytest.fixture(scope="session")
def node_operator(node_cluster: Access) -> Iterator[NodeOperator]:
    """Our operator on the node cluster, with its webhooks where they can be called by URL."""
    images = [
        word for step, name in INITIALIZER_IMAGES.items() for word in (f"--{step}-image", name)
    ]
    with operator_on(node_cluster, images) as operator:
        yield operator


@contextmanager
def operator_on(cluster: Access, arguments: Sequence[str] = ()) -> Iterator[NodeOperator]:
    """Our operator on a cluster, for as long as the block runs."""
    cluster.install_our_crds()
    ensure_namespace(cluster)
    cluster.apply(*manifests.settings(Installation())[:2])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trainway-operator-")))
        documents = []
        process = OperatorProcess(cluster, folder / "operator.log", arguments)
        if isinstance(cluster, NodeCluster):
            process = reporting_operator(cluster, folder / "operator.log", arguments)
            documents = webhook_configurations(url_client(process.url))
            stack.enter_context(webhooks_at(cluster, documents))
        process.start()
        stack.callback(process.stop)
        process.wait_ready()
        wait_for_trust(cluster, documents, "default")
        yield NodeOperator(cluster, process)


def reporting_operator(
    cluster: NodeCluster, log_file: Path, arguments: Sequence[str]
) -> OperatorProcess:
    """The operator with its status server, which pods find by the name that it tells them.

    The Service has no address and no pods: its name stands for the node, where the operator runs.
    """
    address = cluster.network.address
    service, endpoints = status_service(address)
    cluster.apply(service, endpoints)
    gates = ["--feature-gates", "TrainJobStatus=true"]
    return OperatorProcess(cluster, log_file, [*gates, *arguments], host=address)


def status_service(address: str) -> tuple[Json, Json]:
    """The operator's Service, with an endpoint outside the cluster."""
    name = CertConfig.service_name
    port = {"name": "status-server", "port": StatusServerConfig.port, "protocol": "TCP"}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"clusterIP": "None", "ports": [port]},
    }
    endpoints = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"kubernetes.io/service-name": name},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [port],
    }
    return service, endpoints


def host_runtime(builtin: str, name: str) -> Json:
    """A built-in runtime whose pods have this machine's programs."""
    runtime = builtin_runtime(builtin)
    assert runtime is not None
    runtime["metadata"] = {"name": name, "labels": runtime["metadata"]["labels"]}
    runtime["kind"] = "TrainingRuntime"
    for job in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
        give_host_programs(job["template"]["spec"]["template"]["spec"])
    return runtime


def give_host_programs(pod: Json) -> None:
    """Let a pod have this machine's programs, Python, frameworks and our examples."""
    mounts = [
        {"name": name, "mountPath": str(path), "readOnly": True}
        for name, path in host_folders().items()
    ]
    pod["volumes"] = [
        {"name": name, "hostPath": {"path": str(path), "type": "Directory"}}
        for name, path in host_folders().items()
    ]
    for container in pod["containers"]:
        container["image"] = HOSTROOT
        container["volumeMounts"] = mounts
        probe_at_once(container)


def host_folders() -> dict[str, Path]:
    """What pods mount, each at the place it has here."""
    return {
        "usr": Path("/usr"),
        "python": Path(sys.base_prefix),
        "environment": environment(*TORCH).path,
        "examples": EXAMPLES,
    }


def framework_program(name: str) -> str:
    """A program of the environment with the frameworks."""
    return str(environment(*TORCH).path / "bin" / name)


def shell_runtime(name: str, failure_policy: Json | None = None) -> Json:
    """A runtime for small scripts: no framework, one replicated job."""
    container = {"name": "node", "image": BUSYBOX, "command": ["sleep", "600"]}
    pod = {"containers": [container], "terminationGracePeriodSeconds": 1}
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {ANCESTOR_STEP: "trainer"}},
            "spec": {"backoffLimit": 0, "template": {"spec": pod}},
        },
    }
    template: Json = {"replicatedJobs": [job]}
    if failure_policy is not None:
        template["failurePolicy"] = failure_policy
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": {"name": name},
        "spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": template}},
    }


def trainjob(name: str, runtime: str, trainer: Json, **spec: Any) -> Json:
    """A TrainJob with a runtime of its own namespace."""
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": {
            "runtimeRef": {"name": runtime, "kind": "TrainingRuntime"},
            "trainer": trainer,
            **spec,
        },
    }
