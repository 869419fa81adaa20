"""The settings of the operator, as the rest of it reads them.

They come from a file (`configuration_file`) and from flags (`__main__`); a flag wins. The defaults
are those of upstream's manager but for one: requests to the API server are not limited here unless
the file says so, since the server itself shares out its time fairly (API priority and fairness).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

TRAIN_JOB: Final = "TrainJob.trainer.kubeflow.org"
MPI_JOB: Final = "MPIJob.kubeflow.org"
OPTIMIZATION_JOB: Final = "OptimizationJob.trainer.kubeflow.org"
TRAINING_RUNTIME: Final = "TrainingRuntime.trainer.kubeflow.org"
CLUSTER_TRAINING_RUNTIME: Final = "ClusterTrainingRuntime.trainer.kubeflow.org"

_WORKERS: Final = {TRAIN_JOB: 32, MPI_JOB: 8, OPTIMIZATION_JOB: 4}


@dataclass(frozen=True)
class WebhookConfig:
    """The server that the API server asks."""

    port: int = 9443
    host: str = ""
    """The address to listen at; empty stands for all addresses."""
    cert_dir: Path | None = None
    """A folder with tls.crt and tls.key; then webhook configurations are left alone."""


@dataclass(frozen=True)
class LeaderElectionConfig:
    """Of several replicas one runs the controllers."""

    leader_elect: bool = False
    resource_name: str = "trainer.kubeflow.org"
    resource_namespace: str = ""
    """The namespace of the Lease; empty stands for the operator's own."""
    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0


@dataclass(frozen=True)
class MetricsConfig:
    """What Prometheus reads."""

    bind_address: str = ":8443"
    """The address to listen at; `0` turns the listener off."""
    secure_serving: bool = True
    auth_enabled: bool = False


@dataclass(frozen=True)
class HealthConfig:
    """What the kubelet asks."""

    bind_address: str = ":8081"
    readiness_name: str = "readyz"
    liveness_name: str = "healthz"


@dataclass(frozen=True)
class CertConfig:
    """Certificates that the operator makes by itself."""

    enabled: bool = True
    service_name: str = "kubeflow-trainer-controller-manager"
    secret_name: str = "kubeflow-trainer-webhook-cert"  # noqa: S105 (the name of an object)


@dataclass(frozen=True)
class StatusServerConfig:
    """Where trainers report progress."""

    port: int = 10443
    qps: float = 5.0
    burst: int = 10


@dataclass(frozen=True)
class TlsConfig:
    """How all servers of the operator speak TLS."""

    min_version: str = ""
    cipher_suites: tuple[str, ...] = ()
    next_protos: tuple[str, ...] = ()


@dataclass(frozen=True)
class FeatureGates:
    """What is not on by default."""

    train_job_status: bool = False


@dataclass(frozen=True)
class OperatorConfig:
    """All settings."""

    webhook: WebhookConfig = WebhookConfig()
    leader_election: LeaderElectionConfig = LeaderElectionConfig()
    metrics: MetricsConfig = MetricsConfig()
    health: HealthConfig = HealthConfig()
    cert: CertConfig = CertConfig()
    status_server: StatusServerConfig = StatusServerConfig()
    tls: TlsConfig = TlsConfig()
    feature_gates: FeatureGates = FeatureGates()
    concurrency: Mapping[str, int] = field(default_factory=dict)
    """How many workers there are, by `Kind.group`."""
    qps: float | None = None
    burst: int | None = None
    """The limits of requests to the API server; None means that there is no limit."""
    namespaces: tuple[str, ...] = ()
    """Only jobs of these namespaces are seen; empty stands for all."""
    dataset_initializer_image: str = ""
    model_initializer_image: str = ""
    """The images that take the place of upstream's initializers; empty: upstream's stay."""
    gang_scheduling: str = ""
    """How gangs of MPIJobs are scheduled: empty, `volcano`, or the name of a scheduler of
    scheduler-plugins."""
    cluster_domain: str = ""
    """What comes after `.svc` in the host names of MPIJobs."""

    @property
    def initializer_images(self) -> dict[str, str]:
        """Those images that are named, by the step that they do."""
        named = {
            "dataset-initializer": self.dataset_initializer_image,
            "model-initializer": self.model_initializer_image,
        }
        return {step: image for step, image in named.items() if image}

    def workers(self, group_kind: str) -> int:
        """How many objects of a kind are worked on at a time."""
        return self.concurrency.get(group_kind, _WORKERS.get(group_kind, 1))
