"""Requests to a cluster's API server, and the client of the package `kubernetes` that sends them.

The kubeflow SDK brings that package with it. It is imported when somebody asks for a cluster, since
nothing else here needs it.
"""

import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from trainway.errors import NotFoundError, TrainwayError, UnavailableError
from trainway.json_types import Json
from trainway.sdk.kubeflow.types.types import KubernetesBackendConfig
from trainway.sdk.manifests import TRAINER_API

SEARCHES: Final = "optimizationjobs"
TRAINJOBS: Final = "trainjobs"
RUNTIMES: Final = "trainingruntimes"
CLUSTER_RUNTIMES: Final = "clustertrainingruntimes"

_SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TIMEOUT_S: Final = 60
_NOT_FOUND: Final = 404


@dataclass(frozen=True)
class Request:
    """One request to the API server."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Json | None = None


def objects(plural: str, namespace: str, name: str = "") -> str:
    """The path of the objects of a kind of Kubeflow Trainer, or of one of them."""
    scope = f"/namespaces/{namespace}" if namespace else ""
    return f"/apis/{TRAINER_API}{scope}/{plural}" + (f"/{name}" if name else "")


def core(plural: str, namespace: str, name: str = "") -> str:
    """The same for pods and events."""
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


@dataclass(frozen=True)
class ClusterApi:
    """Sends requests, as one user to one cluster."""

    namespace: str
    send: Callable[[Request], Any]
    """Gives the JSON of the answer."""
    lines: Callable[[Request], Iterator[str]]
    """Gives the answer line by line while it comes."""


def connected(wanted: KubernetesBackendConfig) -> ClusterApi:
    """The cluster of a configuration; without one, that of the pod or of the kubeconfig."""
    try:
        package: Any = importlib.import_module("kubernetes")
    except ImportError:
        raise UnavailableError(
            "a search on a cluster needs the package kubernetes: pip install kubernetes"
        ) from None
    settings: Any = wanted.client_configuration or package.client.Configuration()
    namespace = wanted.namespace
    if wanted.client_configuration is None:
        if wanted.config_file or wanted.context or not _SERVICE_ACCOUNT.is_dir():
            of_context = _load_file(package, wanted, settings)
            namespace = namespace or of_context
        else:
            package.config.load_incluster_config(settings)
            namespace = namespace or (_SERVICE_ACCOUNT / "namespace").read_text().strip()
    client = package.client.ApiClient(settings)

    def send(request: Request) -> Any:
        text = _sent(package, client, request).data
        return json.loads(text) if text else {}

    def lines(request: Request) -> Iterator[str]:
        answer = _sent(package, client, request)
        for line in answer:
            yield line.decode(errors="replace").rstrip("\n")

    return ClusterApi(namespace or "default", send, lines)


def _load_file(package: Any, wanted: KubernetesBackendConfig, settings: Any) -> str:
    """Read a kubeconfig; its namespace."""
    try:
        package.config.load_kube_config(wanted.config_file, wanted.context, settings)
        contexts, current = package.config.list_kube_config_contexts(wanted.config_file)
    except (package.config.ConfigException, OSError) as error:
        raise UnavailableError(f"no cluster is configured: {error}") from None
    named = [each for each in contexts if each["name"] == wanted.context]
    chosen = named[0] if named else current
    return str(chosen["context"].get("namespace") or "")


def _sent(package: Any, client: Any, request: Request) -> Any:
    exceptions = importlib.import_module("urllib3.exceptions")
    try:
        return client.call_api(
            request.path,
            request.method,
            query_params=list(request.query.items()),
            header_params={"Accept": "application/json", "Content-Type": "application/json"},
            body=request.body,
            auth_settings=["BearerToken"],
            _return_http_data_only=True,
            _preload_content=False,
            _request_timeout=None if "follow" in request.query else _TIMEOUT_S,
        )
    except package.client.ApiException as error:
        raise refusal(request, error.status, error.body) from None
    except exceptions.HTTPError as error:
        raise UnavailableError(
            f"the cluster at {client.configuration.host} does not answer: {error}"
        ) from None


def refusal(request: Request, status: int, body: object) -> TrainwayError:
    """What the API server says to a request that it refuses."""
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")
    try:
        message = str(json.loads(text)["message"])
    except (ValueError, LookupError, TypeError):
        message = text.strip() or f"the API server answers {status}"
    if status != _NOT_FOUND:
        return TrainwayError(message)
    if message.startswith(("404", "the server could not find")) and SEARCHES in request.path:
        return NotFoundError("the cluster has no OptimizationJobs: install Trainway's operator")
    return NotFoundError(message)
