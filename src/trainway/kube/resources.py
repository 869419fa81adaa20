"""The kinds of objects we speak of, and where the API server keeps them.

A table instead of discovery: it needs no request, and an unknown kind is our mistake, not the
cluster's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from trainway.errors import TrainwayError


class UnknownKindError(TrainwayError):
    """An object of a kind that is not in the table."""

    code = "unknown_kind"


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of object of one version of a group; the core group is empty."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """As objects have it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_path(self) -> str:
        """Where its version of the group is served."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Of one object, of all in a namespace, or of all."""
        place = f"/namespaces/{quote(namespace, '')}" if namespace and self.namespaced else ""
        one = f"/{quote(name, '')}" if name else ""
        part = f"/{subresource}" if subresource else ""
        return f"{self.group_path}{place}/{self.plural}{one}{part}"

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


CONFIG_MAPS: Final = Resource("", "v1", "configmaps", "ConfigMap")
ENDPOINTS: Final = Resource("", "v1", "endpoints", "Endpoints")
EVENTS: Final = Resource("", "v1", "events", "Event")
LIMIT_RANGES: Final = Resource("", "v1", "limitranges", "LimitRange")
NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NODES: Final = Resource("", "v1", "nodes", "Node", namespaced=False)
PERSISTENT_VOLUME_CLAIMS: Final = Resource(
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"
)
PODS: Final = Resource("", "v1", "pods", "Pod")
POD_METRICS: Final = Resource("metrics.k8s.io", "v1beta1", "pods", "PodMetrics")
RESOURCE_QUOTAS: Final = Resource("", "v1", "resourcequotas", "ResourceQuota")
SECRETS: Final = Resource("", "v1", "secrets", "Secret")
SERVICES: Final = Resource("", "v1", "services", "Service")
SERVICE_ACCOUNTS: Final = Resource("", "v1", "serviceaccounts", "ServiceAccount")

DAEMON_SETS: Final = Resource("apps", "v1", "daemonsets", "DaemonSet")
DEPLOYMENTS: Final = Resource("apps", "v1", "deployments", "Deployment")
REPLICA_SETS: Final = Resource("apps", "v1", "replicasets", "ReplicaSet")
STATEFUL_SETS: Final = Resource("apps", "v1", "statefulsets", "StatefulSet")
JOBS: Final = Resource("batch", "v1", "jobs", "Job")
LEASES: Final = Resource("coordination.k8s.io", "v1", "leases", "Lease")
NETWORK_POLICIES: Final = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
POD_DISRUPTION_BUDGETS: Final = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"
)
PRIORITY_CLASSES: Final = Resource(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False
)
RUNTIME_CLASSES: Final = Resource(
    "node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False
)

_RBAC: Final = "rbac.authorization.k8s.io"
CLUSTER_ROLES: Final = Resource(_RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False)
CLUSTER_ROLE_BINDINGS: Final = Resource(
    _RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False
)
ROLES: Final = Resource(_RBAC, "v1", "roles", "Role")
ROLE_BINDINGS: Final = Resource(_RBAC, "v1", "rolebindings", "RoleBinding")

TOKEN_REVIEWS: Final = Resource(
    "authentication.k8s.io", "v1", "tokenreviews", "TokenReview", namespaced=False
)
SUBJECT_ACCESS_REVIEWS: Final = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False
)
SELF_SUBJECT_ACCESS_REVIEWS: Final = Resource(
    "authorization.k8s.io",
    "v1",
    "selfsubjectaccessreviews",
    "SelfSubjectAccessReview",
    namespaced=False,
)
CRDS: Final = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    namespaced=False,
)
_ADMISSION: Final = "admissionregistration.k8s.io"
VALIDATING_WEBHOOKS: Final = Resource(
    _ADMISSION,
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    namespaced=False,
)
MUTATING_WEBHOOKS: Final = Resource(
    _ADMISSION,
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
)

JOBSETS: Final = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet")
LEADER_WORKER_SETS: Final = Resource(
    "leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet"
)
_TRAINER: Final = "trainer.kubeflow.org"
TRAINJOBS: Final = Resource(_TRAINER, "v1alpha1", "trainjobs", "TrainJob")
OPTIMIZATION_JOBS: Final = Resource(_TRAINER, "v1alpha1", "optimizationjobs", "OptimizationJob")
TRAINING_RUNTIMES: Final = Resource(_TRAINER, "v1alpha1", "trainingruntimes", "TrainingRuntime")
CLUSTER_TRAINING_RUNTIMES: Final = Resource(
    _TRAINER, "v1alpha1", "clustertrainingruntimes", "ClusterTrainingRuntime", namespaced=False
)
MPIJOBS: Final = Resource("kubeflow.org", "v2beta1", "mpijobs", "MPIJob")
COSCHEDULING_POD_GROUPS: Final = Resource(
    "scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup"
)
VOLCANO_POD_GROUPS: Final = Resource("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup")
_KUEUE: Final = "kueue.x-k8s.io"
CLUSTER_QUEUES: Final = Resource(
    _KUEUE, "v1beta1", "clusterqueues", "ClusterQueue", namespaced=False
)
LOCAL_QUEUES: Final = Resource(_KUEUE, "v1beta1", "localqueues", "LocalQueue")
RESOURCE_FLAVORS: Final = Resource(
    _KUEUE, "v1beta1", "resourceflavors", "ResourceFlavor", namespaced=False
)
WORKLOADS: Final = Resource(_KUEUE, "v1beta1", "workloads", "Workload")
NEWER_WORKLOADS: Final = Resource(_KUEUE, "v1beta2", "workloads", "Workload")

_TABLE: Final[Mapping[tuple[str, str], Resource]] = {
    (value.api_version, value.kind): value
    for value in list(globals().values())
    if isinstance(value, Resource)
}


def resource_of(obj: Mapping[str, Any]) -> Resource:
    """The resource of an object, by its apiVersion and kind."""
    api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
    try:
        return _TABLE[api_version, kind]
    except KeyError:
        raise UnknownKindError(f"unknown kind {kind!r} of {api_version!r}") from None
