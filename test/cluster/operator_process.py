"""The operator as a process of its own, as tests and benchmarks start it on a cluster.

It listens on loopback, or at an address that pods reach, and the webhook configurations name that
address instead of a Service.
"""

import http.client
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from cluster.access import Access, KubectlError
from cluster.control_plane import LOOPBACK, succeeds
from cluster.ports import free_port
from cluster.processes import Process, wait_until

from trainway.json_types import Json
from trainway.kube.resources import TRAINJOBS

NAMESPACE: Final = "kubeflow-system"
START_S: Final = 120.0
STOP_S: Final = 60.0
TRUST_S: Final = 120.0
ANSWER_S: Final = 30.0


class OperatorProcess:
    """`trainway operator run` on a cluster."""

    def __init__(
        self,
        cluster: Access,
        log_file: Path,
        arguments: Sequence[str] = (),
        *,
        webhook_port: int | None = None,
        host: str = LOOPBACK,
    ) -> None:
        self.cluster = cluster
        self.host = host
        self.webhook_port = webhook_port or free_port()
        self.health_port = free_port()
        self.metrics_port = free_port()
        self.process = Process("operator", self._command(arguments), log_file)

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return [
            *(sys.executable, "-m", "trainway.operator", "run"),
            *("--kubeconfig", str(self.cluster.kubeconfig)),
            *("--operator-namespace", NAMESPACE),
            *("--webhook-host", self.host, "--webhook-port", str(self.webhook_port)),
            *("--metrics-bind-address", f"{LOOPBACK}:{self.metrics_port}", "--no-metrics-secure"),
            *("--health-probe-bind-address", f"{LOOPBACK}:{self.health_port}"),
            *arguments,
        ]

    def start(self) -> None:
        """Start it, again if it ran before."""
        self.process.start()

    def wait_ready(self, seconds: float = START_S) -> None:
        """Wait until it says that it is ready, and has metrics, which come a moment later."""
        self.process.wait_ready(lambda: self.answers("/readyz") and self.has_metrics(), seconds)

    def has_metrics(self) -> bool:
        """Whether the page with metrics is there."""
        connection = http.client.HTTPConnection(LOOPBACK, self.metrics_port, timeout=ANSWER_S)
        return succeeds(connection, "/metrics")

    def answers(self, path: str) -> bool:
        """Whether a health endpoint answers with success."""
        connection = http.client.HTTPConnection(LOOPBACK, self.health_port, timeout=ANSWER_S)
        return succeeds(connection, path)

    def metrics(self) -> str:
        """The page that Prometheus reads."""
        connection = http.client.HTTPConnection(LOOPBACK, self.metrics_port, timeout=ANSWER_S)
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def metric(self, sample: str) -> float | None:
        """The value of one sample, named with its labels as on the page."""
        for line in self.metrics().splitlines():
            name, _, value = line.rpartition(" ")
            if name == sample:
                return float(value)
        return None

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.stop(signal.SIGKILL)

    def stop(self) -> int:
        """End it in order; its exit status."""
        self.process.stop(signal.SIGTERM, STOP_S)
        popen = self.process.popen
        return popen.returncode if popen is not None else 0

    @property
    def pid(self) -> int:
        """Of the process that runs now."""
        assert self.process.identity is not None
        return self.process.identity.pid

    @property
    def log(self) -> str:
        """All it said so far."""
        return self.process.log_file.read_text(errors="replace")

    @property
    def url(self) -> str:
        """Where its webhooks are."""
        return f"https://{self.host}:{self.webhook_port}"


def ensure_namespace(cluster: Access, name: str = NAMESPACE) -> None:
    """The namespace, which may be there already."""
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


@contextmanager
def webhooks_at(cluster: Access, documents: Sequence[Json], namespace: str = "") -> Iterator[None]:
    """Webhook configurations for as long as the block runs; with a namespace only for that one."""
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    for document in documents:
        for webhook in document["webhooks"]:
            if namespace:
                webhook["namespaceSelector"] = selector
    cluster.apply(*documents)
    try:
        yield
    finally:
        names = [f"{document['kind']}/{document['metadata']['name']}" for document in documents]
        cluster.kubectl("delete", "--ignore-not-found", *names)


def trusts_authority(cluster: Access, kind: str, name: str) -> bool:
    """Whether the operator has said whom to trust."""
    webhooks = cluster.get(kind, name)["webhooks"]
    return all(webhook["clientConfig"].get("caBundle") for webhook in webhooks)


def wait_for_trust(cluster: Access, documents: Sequence[Json], namespace: str) -> None:
    """Wait until the API server can call these webhooks for jobs of the namespace."""
    for document in documents:
        kind, name = document["kind"], document["metadata"]["name"]
        wait_for(
            lambda k=kind, n=name: trusts_authority(cluster, k, n), TRUST_S, f"trust in {name}"
        )
    wait_for(lambda: are_called(cluster, namespace), TRUST_S, "the webhooks are called")


def are_called(cluster: Access, namespace: str) -> bool:
    """Whether the API server knows by now whom to trust; what they say does not matter."""
    job = {
        "apiVersion": TRAINJOBS.api_version,
        "kind": TRAINJOBS.kind,
        "metadata": {"name": "is-asked-about"},
        "spec": {"runtimeRef": {"name": "there-is-none"}},
    }
    try:
        cluster.rehearse(job, namespace)
    except KubectlError as error:
        return "failed calling webhook" not in str(error)
    return True


def wait_for(condition: Any, seconds: float, what: str) -> None:
    """Wait for a condition, or fail with what it was."""
    if not wait_until(condition, seconds):
        raise TimeoutError(f"not within {seconds:g} s: {what}")


def resident_mb(pid: int) -> float:
    """The memory that a process has now."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024 / 1e6


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
