"""Progress: tells the trainer where to report how far it is.

Clients (the kubeflow SDK, the transformers callback) look for exactly these three variables. The
plugin is registered only where there is an endpoint to report to, as with upstream's feature gate.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from trainway.compiler.companions import config_map
from trainway.compiler.workload import Workload
from trainway.json_types import Json

VOLUME = "kubeflow-trainer-token"
MOUNT_PATH = "/var/run/secrets/kubeflow/trainer"
CA_KEY = "ca.crt"
TOKEN_KEY = "token"  # noqa: S105 (the name of a file)
TOKEN_SECONDS = 3600


@dataclass(frozen=True)
class StatusEndpoint:
    """The status server of the operator."""

    host: str
    """The host name of the service: `<service>.<namespace>.svc`."""
    ca_certificate: str
    port: int = 10443


@dataclass(frozen=True)
class Progress:
    """Active for every job, once registered."""

    endpoint: StatusEndpoint
    name: str = "Progress"
    order: int = 900

    def enforce_pod_spec(self, workload: Workload) -> None:
        """Give all the trainer's containers the address, a token for it and the CA."""
        role = workload.trainer
        if role is None:
            return
        url = f"https://{self.endpoint.host}:{self.endpoint.port}/apis/{_resource(workload)}"
        role.pod.set_volume(_volume(workload))
        for container in role.pod.containers:
            container.set_env(
                {"name": "KUBEFLOW_TRAINER_SERVER_URL", "value": url},
                {"name": "KUBEFLOW_TRAINER_SERVER_CA_CERT", "value": f"{MOUNT_PATH}/{CA_KEY}"},
                {"name": "KUBEFLOW_TRAINER_SERVER_TOKEN", "value": f"{MOUNT_PATH}/{TOKEN_KEY}"},
            )
            container.set_mount(VOLUME, MOUNT_PATH, readOnly=True)

    def build(self, workload: Workload) -> Iterator[Json]:
        """The CA, next to the pods that need it."""
        if workload.trainer is not None:
            metadata = workload.owned(_ca_map(workload))
            yield config_map(metadata, {CA_KEY: self.endpoint.ca_certificate})


def _resource(workload: Workload) -> str:
    namespace = workload.job.metadata.namespace or "default"
    return f"trainer.kubeflow.org/v1alpha1/namespaces/{namespace}/trainjobs/{workload.name}/status"


def _volume(workload: Workload) -> Json:
    token = {
        "audience": _resource(workload),
        "expirationSeconds": TOKEN_SECONDS,
        "path": TOKEN_KEY,
    }
    ca = {"name": _ca_map(workload), "items": [{"key": CA_KEY, "path": CA_KEY}]}
    sources = [{"serviceAccountToken": token}, {"configMap": ca}]
    return {"name": VOLUME, "projected": {"sources": sources}}


def _ca_map(workload: Workload) -> str:
    return f"{workload.name}-tls-config"
