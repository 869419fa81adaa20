"""Hides the values of Secrets wherever objects are shown, and those that nobody would look at."""

import re
from typing import Final

from trainway.json_types import Json

MASK: Final = "***"
_LONGEST: Final = 65_536
"""Characters of a ConfigMap that are shown: jobs are shown whenever they change."""
_CONFIDENTIAL: Final = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|KEY", re.IGNORECASE)


def is_confidential(variable: str) -> bool:
    """Whether a variable of that name may have a value that nobody should see."""
    return _CONFIDENTIAL.search(variable) is not None


def masked_object(obj: Json) -> Json:
    """The object; of a Secret only the keys, and of a very large ConfigMap the sizes."""
    if obj.get("kind") == "ConfigMap":
        return _shortened(obj)
    if obj.get("kind") != "Secret":
        return obj
    hidden = {
        field: dict.fromkeys(obj[field], MASK)
        for field in ("data", "stringData")
        if isinstance(obj.get(field), dict)
    }
    return {**_without_copies(obj), **hidden}


def _shortened(obj: Json) -> Json:
    contents = {
        field: obj[field] for field in ("data", "binaryData") if isinstance(obj.get(field), dict)
    }
    sizes = {
        field: {key: len(text) if isinstance(text, str) else 0 for key, text in content.items()}
        for field, content in contents.items()
    }
    if sum(sum(content.values()) for content in sizes.values()) <= _LONGEST:
        return obj
    told = {
        field: {key: f"({size} characters)" for key, size in content.items()}
        for field, content in sizes.items()
    }
    return {**obj, **told}


def _without_copies(obj: Json) -> Json:
    """Leave out annotations: kubectl keeps a copy of the whole object in one."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "annotations" not in metadata:
        return obj
    kept = {name: value for name, value in metadata.items() if name != "annotations"}
    return {**obj, "metadata": kept}
