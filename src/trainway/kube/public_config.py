"""What an operator tells everyone in a cluster: the ConfigMap that upstream's SDK reads, too.

Upstream writes its version there. Ours adds the annotations of a TrainJob that it follows, so that
whoever sends a job knows whether the operator of the cluster understands it.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from trainway.json_types import Json

PUBLIC_CONFIG_MAP: Final = "kubeflow-trainer-public"
SYSTEM_NAMESPACE: Final = "kubeflow-system"
SYSTEM_NAMESPACE_VARIABLE: Final = "KUBEFLOW_SYSTEM_NAMESPACE"
"""The variable that tells upstream's SDK of another namespace."""

_ANNOTATIONS: Final = "trainway_annotations"


def annotations_entry(annotations: Iterable[str]) -> dict[str, str]:
    """The entry of the ConfigMap that lists the annotations."""
    return {_ANNOTATIONS: " ".join(annotations)}


def annotations_of(config_map: Json) -> frozenset[str]:
    """The annotations that the ConfigMap lists."""
    return frozenset(str((config_map.get("data") or {}).get(_ANNOTATIONS) or "").split())


def system_namespace(environ: Mapping[str, str]) -> str:
    """Where the operator is."""
    return environ.get(SYSTEM_NAMESPACE_VARIABLE) or SYSTEM_NAMESPACE
