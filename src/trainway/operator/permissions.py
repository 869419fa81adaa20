"""What the operator may do in a cluster, and what its users may: no verb that nobody uses.

`test/kubernetes/node/permissions_test.py` compares the operator's with what it asked for in a run,
as the audit log of the API server has it. An apply that makes an object needs `create` and `patch`.
"""

from collections.abc import Sequence
from typing import Any, Final

from trainway.json_types import Json
from trainway.kube.certificate_keeper import WEBHOOK_CONFIGURATIONS

_TRAINER: Final = "trainer.kubeflow.org"
_MPI: Final = "kubeflow.org"
_CACHE: Final = ("list", "watch")
_READ: Final = ("get", *_CACHE)
_WRITE: Final = ("create", "patch")


def _rule(
    group: str | Sequence[str], resources: Sequence[str], verbs: Sequence[str], **more: Any
) -> Json:
    groups = [group] if isinstance(group, str) else list(group)
    return {"apiGroups": groups, "resources": list(resources), **more, "verbs": list(verbs)}


def job_rules() -> list[Json]:
    """Wherever there are jobs: in all namespaces, or in those that the operator is told of."""
    return [
        _rule(_TRAINER, ("trainjobs",), (*_CACHE, *_WRITE, "delete")),
        _rule(_TRAINER, ("trainjobs/status",), ("patch",)),
        _rule(_TRAINER, ("trainingruntimes",), (*_READ, "patch")),
        _rule(_TRAINER, ("optimizationjobs",), _CACHE),
        _rule(_TRAINER, ("optimizationjobs/status",), ("patch",)),
        _rule(_MPI, ("mpijobs",), (*_CACHE, "delete")),
        _rule(_MPI, ("mpijobs/status",), ("patch",)),
        _rule(_TRAINER, ("trainjobs/finalizers", "optimizationjobs/finalizers"), ("update",)),
        _rule(_MPI, ("mpijobs/finalizers",), ("update",)),
        _rule("jobset.x-k8s.io", ("jobsets",), (*_READ, *_WRITE, "delete")),
        _rule("batch", ("jobs",), (*_READ, "patch")),
        _rule("", ("pods",), (*_CACHE, "delete")),
        _rule("", ("configmaps",), (*_READ, *_WRITE)),
        _rule("", ("secrets",), (*_CACHE, "create")),
        _rule("", ("limitranges",), _CACHE),
        _rule("", ("events",), (*_CACHE, *_WRITE)),
        _rule(
            ("scheduling.x-k8s.io", "scheduling.volcano.sh"),
            ("podgroups",),
            (*_CACHE, *_WRITE, "delete"),
        ),
    ]


def cluster_rules() -> list[Json]:
    """On what is in no namespace."""
    return [
        _rule(_TRAINER, ("clustertrainingruntimes",), (*_READ, "patch")),
        _rule("scheduling.k8s.io", ("priorityclasses",), _READ),
        _rule("node.k8s.io", ("runtimeclasses",), _CACHE),
        *_webhook_rules(),
        _rule("authentication.k8s.io", ("tokenreviews",), ("create",)),
        _rule("authorization.k8s.io", ("subjectaccessreviews",), ("create",)),
    ]


def _webhook_rules() -> list[Json]:
    """Those webhook configurations that name our webhooks, and no others."""
    names: dict[str, list[str]] = {}
    for resource, name in WEBHOOK_CONFIGURATIONS:
        names.setdefault(resource.plural, []).append(name)
    return [
        _rule("admissionregistration.k8s.io", (plural,), ("get", "patch"), resourceNames=configured)
        for plural, configured in names.items()
    ]


def own_namespace_rules(secret_name: str, lease_name: str) -> list[Json]:
    """In the operator's own namespace: whose turn it is, and the certificate."""
    leases = ("coordination.k8s.io", ("leases",))
    return [
        _rule(*leases, ("create",)),
        _rule(*leases, ("get", "update"), resourceNames=[lease_name]),
        _rule("", ("secrets",), ("get", "update"), resourceNames=[secret_name]),
    ]


def runtime_installer_rules() -> list[Json]:
    """Of the job of the chart that brings the built-in runtimes."""
    return [_rule(_TRAINER, ("clustertrainingruntimes",), ("get", *_WRITE))]


def viewer_rules() -> list[Json]:
    """Whoever may look at things in a namespace may look at jobs there."""
    return [
        _rule(_TRAINER, ("trainjobs", "trainjobs/status", "trainingruntimes"), _READ),
        _rule(_TRAINER, ("optimizationjobs", "optimizationjobs/status"), _READ),
        _rule(_MPI, ("mpijobs", "mpijobs/status"), _READ),
    ]


def editor_rules() -> list[Json]:
    """Whoever may change things in a namespace may run jobs there."""
    verbs = ("create", "update", "patch", "delete", "deletecollection")
    return [
        _rule(_TRAINER, ("trainjobs", "trainingruntimes", "optimizationjobs"), verbs),
        _rule(_MPI, ("mpijobs",), verbs),
    ]


def cluster_runtime_reader_rules() -> list[Json]:
    """Everyone may see which runtimes the cluster has."""
    return [_rule(_TRAINER, ("clustertrainingruntimes",), _READ)]


def public_config_map_rules(name: str) -> list[Json]:
    """Everyone may read which version runs; clients ask for it."""
    return [_rule("", ("configmaps",), _READ, resourceNames=[name])]
