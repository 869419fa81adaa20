"""The objects of which an installation has several: roles, their bindings and ConfigMaps.

All objects of an installation have the same labels, by which it is found again.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from trainway.json_types import Json

MANAGED_BY: Final = ("app.kubernetes.io/managed-by", "trainway")
RBAC: Final = "rbac.authorization.k8s.io"
SELECTOR: Final[Mapping[str, str]] = {
    "app.kubernetes.io/name": "trainer",
    "app.kubernetes.io/component": "manager",
    "app.kubernetes.io/part-of": "kubeflow",
}


def metadata(name: str, where: str, labels: Mapping[str, str] | None = None) -> Json:
    """The metadata of an object; without a namespace, of one for the whole cluster."""
    made: Json = {"name": name}
    if where:
        made["namespace"] = where
    made["labels"] = {**SELECTOR, **dict([MANAGED_BY]), **(labels or {})}
    return made


def role(
    name: str, where: str, rules: Sequence[Json], labels: Mapping[str, str] | None = None
) -> Json:
    """A Role, or without a namespace a ClusterRole."""
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "Role" if where else "ClusterRole",
        "metadata": metadata(name, where, labels),
        "rules": list(rules),
    }


def binding(name: str, where: str, subject: Json) -> Json:
    """The role of that name for someone."""
    kind = "Role" if where else "ClusterRole"
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": metadata(name, where),
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": name},
        "subjects": [subject],
    }


def config_map(name: str, where: str, data: Mapping[str, str]) -> Json:
    """A ConfigMap of these texts."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(name, where),
        "data": dict(data),
    }
