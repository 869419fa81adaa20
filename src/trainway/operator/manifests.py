"""The objects that make up an installation of the operator, as plain dicts.

`make generate` writes them to `manifests`, `install` applies them, and the chart renders the same
ones: what is reviewed is what runs. Names are upstream's, so that an installation takes the place
of upstream's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import yaml

from trainway import __version__
from trainway.api.crd import crd
from trainway.api.kinds import KINDS
from trainway.jobset.labels import MAX_RESTARTS, MIN_NODES, RECOVER_ON_EXIT_CODES
from trainway.json_types import Json
from trainway.kube.certificates import CA_CERTIFICATE
from trainway.kube.public_config import PUBLIC_CONFIG_MAP, annotations_entry
from trainway.kube.resources import LEASES, NETWORK_POLICIES, POD_DISRUPTION_BUDGETS
from trainway.operator import permissions
from trainway.operator.config import CertConfig
from trainway.operator.installed_objects import (
    MANAGED_BY,
    RBAC,
    SELECTOR,
    binding,
    config_map,
    metadata,
    role,
)
from trainway.operator.webhook_configurations import service_client, webhook_configurations
from trainway.runtimes import builtin_runtimes

NAME: Final = CertConfig.service_name
JOBS_ROLE: Final = f"{NAME}-jobs"
SECRET: Final = CertConfig.secret_name
CONFIG_MAP: Final = "kubeflow-trainer-config"
CONFIG_FILE: Final = "controller_manager_config.yaml"
LEASE: Final = "trainer.kubeflow.org"
TRAINER_VERSION: Final = "v2.3.0"
"""The version of Kubeflow Trainer whose API is served; its SDK asks for it."""
FIELD_OWNER: Final = "trainway-install"


_PORTS: Final = {"health": 8081, "metrics": 8443, "webhook": 9443, "status-server": 10443}
_CONFIG_FOLDER: Final = "/etc/trainway"
_USER: Final = 65532
_GRACE_SECONDS: Final = 30
_LAST_CALLS: Final = "import time; time.sleep(3)"
"""Before a pod ends, the API server has to hear that it shall ask another one."""


@dataclass(frozen=True)
class Installation:
    """Where and what to install."""

    namespace: str = "kubeflow-system"
    image: str = f"trainway/operator:{__version__}"
    replicas: int = 2
    """One of them runs the controllers, all of them answer webhooks."""


def crds() -> list[Json]:
    """The kinds that the operator serves."""
    return [crd(kind) for kind in KINDS.values()]


def namespace(installation: Installation) -> Json:
    """The operator's own namespace."""
    named = {"name": installation.namespace, "labels": dict([MANAGED_BY])}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": named}


def access(installation: Installation) -> list[Json]:
    """Who the operator is and what it, and its users, may do."""
    where = installation.namespace
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": where}
    everyone = {"kind": "Group", "name": "system:authenticated", "apiGroup": RBAC}
    readers = "kubeflow-trainer-view-cluster-runtimes"
    roles = "rbac.authorization.k8s.io/aggregate-to"
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": metadata(NAME, where),
            "automountServiceAccountToken": False,
        },
        role(NAME, "", permissions.cluster_rules()),
        binding(NAME, "", subject),
        role(JOBS_ROLE, "", permissions.job_rules()),
        binding(JOBS_ROLE, "", subject),
        role(NAME, where, permissions.own_namespace_rules(SECRET, LEASE)),
        binding(NAME, where, subject),
        role(
            "kubeflow-trainer-view",
            "",
            permissions.viewer_rules(),
            {f"{roles}-{role}": "true" for role in ("view", "edit", "admin")},
        ),
        role(
            "kubeflow-trainer-edit",
            "",
            permissions.editor_rules(),
            {f"{roles}-{role}": "true" for role in ("edit", "admin")},
        ),
        role(readers, "", permissions.cluster_runtime_reader_rules()),
        binding(readers, "", everyone),
        role(PUBLIC_CONFIG_MAP, where, permissions.public_config_map_rules(PUBLIC_CONFIG_MAP)),
        binding(PUBLIC_CONFIG_MAP, where, everyone),
    ]


def settings(installation: Installation) -> list[Json]:
    """The configuration file, what everyone may know, and what the operator keeps for itself."""
    where = installation.namespace
    public = {
        "kubeflow_trainer_version": TRAINER_VERSION,
        "trainway_version": __version__,
        **annotations_entry([MAX_RESTARTS, RECOVER_ON_EXIT_CODES, MIN_NODES]),
    }
    return [
        config_map(CONFIG_MAP, where, {CONFIG_FILE: _configuration_text()}),
        config_map(PUBLIC_CONFIG_MAP, where, public),
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata(SECRET, where),
            "type": "Opaque",
        },
        {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": metadata(LEASE, where),
        },
    ]


def manager(installation: Installation) -> list[Json]:
    """The processes, the way to them, and what keeps one of them up."""
    budget = [disruption_budget(installation)] if installation.replicas > 1 else []
    return [
        _service(installation),
        _network_policy(installation),
        *budget,
        _deployment(installation),
    ]


def webhooks(installation: Installation) -> list[Json]:
    """What the API server asks the operator."""
    client = service_client(installation.namespace, NAME)
    return webhook_configurations(client, {**SELECTOR, **dict([MANAGED_BY])})


def runtimes() -> list[Json]:
    """The built-in runtimes."""
    return builtin_runtimes()


def configuration() -> Json:
    """The configuration file that is installed: upstream's, without limits on requests."""
    return {
        "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f":{_PORTS['health']}"},
        "metrics": {"bindAddress": f":{_PORTS['metrics']}", "secureServing": True},
        "webhook": {"port": _PORTS["webhook"]},
        "leaderElection": {
            "leaderElect": True,
            "resourceName": LEASE,
            "leaseDuration": "15s",
            "renewDeadline": "10s",
            "retryPeriod": "2s",
        },
        "certManagement": {
            "enable": True,
            "webhookServiceName": NAME,
            "webhookSecretName": SECRET,
        },
        "statusServer": {"port": _PORTS["status-server"], "qps": 50, "burst": 100},
    }


def _configuration_text() -> str:
    return yaml.safe_dump(configuration(), sort_keys=False)


def _service(installation: Installation) -> Json:
    ports = (
        ("monitoring-port", _PORTS["metrics"], "metrics"),
        ("webhook-server", 443, "webhook"),
        ("status-server", _PORTS["status-server"], "status-server"),
    )
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(NAME, installation.namespace),
        "spec": {
            "ports": [
                {"name": name, "port": port, "protocol": "TCP", "targetPort": target}
                for name, port, target in ports
            ],
            "selector": dict(SELECTOR),
        },
    }


def _deployment(installation: Installation) -> Json:
    pod = {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": True,
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(installation)],
        "volumes": [
            {"name": "config", "configMap": {"name": CONFIG_MAP}},
            {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}},
        ],
        **spread(installation),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, installation.namespace),
        "spec": {
            "replicas": installation.replicas,
            "selector": {"matchLabels": dict(SELECTOR)},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
            },
            "template": {"metadata": {"labels": dict(SELECTOR)}, "spec": pod},
        },
    }


def _container(installation: Installation) -> Json:
    ports = [
        {"name": name, "containerPort": port, "protocol": "TCP"} for name, port in _PORTS.items()
    ]
    return {
        "name": "manager",
        "image": installation.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["trainway", "operator", "run"],
        "args": [f"--config={_CONFIG_FOLDER}/{CONFIG_FILE}", "--log-format=json"],
        "ports": ports,
        "livenessProbe": _probe("/healthz", delay=15, period=20),
        "readinessProbe": _probe("/readyz", delay=1, period=5),
        "lifecycle": {"preStop": {"exec": {"command": ["python3", "-c", _LAST_CALLS]}}},
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "1Gi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": _CONFIG_FOLDER, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 (of the container)
        ],
    }


def _probe(path: str, *, delay: int, period: int) -> Json:
    return {
        "httpGet": {"path": path, "port": "health"},
        "initialDelaySeconds": delay,
        "periodSeconds": period,
        "timeoutSeconds": 3,
    }


def spread(installation: Installation) -> Json:
    """Several replicas want to be on several machines."""
    if installation.replicas == 1:
        return {}
    constraints = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(SELECTOR)},
        }
        for key in ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
    ]
    return {"topologySpreadConstraints": constraints}


def disruption_budget(installation: Installation) -> Json:
    """Nobody drains both nodes at a time."""
    return {
        "apiVersion": POD_DISRUPTION_BUDGETS.api_version,
        "kind": POD_DISRUPTION_BUDGETS.kind,
        "metadata": metadata(NAME, installation.namespace),
        "spec": {
            "minAvailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": dict(SELECTOR)},
        },
    }


def _network_policy(installation: Installation) -> Json:
    """Only the ports that are served; the API server has no address that could be named here."""
    ports = [{"port": name, "protocol": "TCP"} for name in _PORTS]
    return {
        "apiVersion": NETWORK_POLICIES.api_version,
        "kind": NETWORK_POLICIES.kind,
        "metadata": metadata(NAME, installation.namespace),
        "spec": {
            "podSelector": {"matchLabels": dict(SELECTOR)},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": ports}],
        },
    }


def service_monitor(installation: Installation) -> Json:
    """Tells a Prometheus of prometheus-operator where the metrics are."""
    server = f"{NAME}.{installation.namespace}.svc"
    authority = {"secret": {"name": SECRET, "key": CA_CERTIFICATE}}
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": metadata(NAME, installation.namespace),
        "spec": {
            "selector": {"matchLabels": dict(SELECTOR)},
            "endpoints": [
                {
                    "port": "monitoring-port",
                    "scheme": "https",
                    "interval": "30s",
                    "tlsConfig": {"ca": authority, "serverName": server},
                }
            ],
        },
    }


def folder(installation: Installation) -> Mapping[str, list[Json]]:
    """The operator in files, without kinds and runtimes, named in the order of their use."""
    return {
        "00-namespace.yaml": [namespace(installation)],
        "10-rbac.yaml": access(installation),
        "20-config.yaml": settings(installation),
        "40-manager.yaml": manager(installation),
        "50-webhooks.yaml": webhooks(installation),
    }


def everything(installation: Installation) -> list[Json]:
    """All objects of an installation, in the order in which they are applied."""
    return [
        *crds(),
        namespace(installation),
        *access(installation),
        *settings(installation),
        *runtimes(),
        *manager(installation),
        *webhooks(installation),
    ]
