"""The word by which a job says whether its nodes may share a machine."""

from collections.abc import Mapping
from typing import Any

from trainway.jobset.labels import PACK
from trainway.json_types import Json


def with_packing(obj: Mapping[str, Any], *, pack: bool) -> Json:
    """The object, saying so."""
    metadata = obj.get("metadata") or {}
    said = {**(metadata.get("annotations") or {}), PACK: "true" if pack else "false"}
    return {**obj, "metadata": {**metadata, "annotations": said}}
