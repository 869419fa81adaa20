"""The annotation by which the output of a job goes into a bucket when it has succeeded. Pure."""

from collections.abc import Mapping
from typing import Any

from trainway.jobset.labels import EXPORT
from trainway.json_types import Json


def with_export(obj: Mapping[str, Any], uri: str) -> Json:
    """The job, whose output is to go there."""
    metadata = obj.get("metadata") or {}
    said = {**(metadata.get("annotations") or {}), EXPORT: uri}
    return {**obj, "metadata": {**metadata, "annotations": said}}


def export_of(job: Mapping[str, Any] | None) -> str:
    """Where the output of a job goes; empty: it stays where it is."""
    metadata = (job or {}).get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    value = annotations.get(EXPORT) if isinstance(annotations, Mapping) else None
    return value if isinstance(value, str) else ""
