"""Hides the values of Secrets wherever objects are shown."""

from typing import Any, Final

Json = dict[str, Any]

MASK: Final = "***"


def masked_object(obj: Json) -> Json:
    """The object; of a Secret only the keys."""
    if obj.get("kind") != "Secret":
        return obj
    hidden = {
        field: dict.fromkeys(obj[field], MASK)
        for field in ("data", "stringData")
        if isinstance(obj.get(field), dict)
    }
    return {**_without_copies(obj), **hidden}


def _without_copies(obj: Json) -> Json:
    """Leave out annotations: kubectl keeps a copy of the whole object in one."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "annotations" not in metadata:
        return obj
    kept = {name: value for name, value in metadata.items() if name != "annotations"}
    return {**obj, "metadata": kept}
