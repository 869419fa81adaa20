"""Whether a namespace allows the privileged containers that a job has. Pure.

Pods are made by controllers, long after a job was accepted; one that a namespace refuses would be
waited for. What a namespace enforces stands in a label of it.
"""

from collections.abc import Iterable
from typing import Any, Final

from trainway.json_types import Json

_ENFORCED: Final = "pod-security.kubernetes.io/enforce"
_ALLOWS: Final = "privileged"


def are_needed(objects: Iterable[Json]) -> bool:
    """Whether a container of the objects is privileged."""
    return any(_is_privileged(obj.get("spec")) for obj in objects)


def refusal(namespace: Json) -> str:
    """Why such a container cannot be in a namespace; empty: nothing is known against it."""
    metadata = namespace.get("metadata") or {}
    level = str((metadata.get("labels") or {}).get(_ENFORCED) or _ALLOWS)
    if level == _ALLOWS:
        return ""
    return f"namespace {metadata.get('name')} enforces the Pod Security Standard {level}"


def _is_privileged(value: Any) -> bool:
    if isinstance(value, dict):
        context = value.get("securityContext")
        if isinstance(context, dict) and context.get("privileged") is True:
            return True
        return any(_is_privileged(each) for each in value.values())
    return isinstance(value, list) and any(_is_privileged(each) for each in value)
