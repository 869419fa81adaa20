"""Whether the nodes of a job are checked before it starts: the annotation that says so. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from trainway.jobset.labels import HEALTH_CHECK
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

IN_PODS: Final = "nodes of a Kubernetes cluster are not checked before the job starts"
"""What a job for pods that asks for a check is warned of."""
_LONGEST: Final = 600
_WORDS: Final = ("true", "false")


def health_check(job: Mapping[str, Any]) -> str:
    """What a job says of its check; empty: it wants none."""
    value = _annotation(job)
    return "" if value in (None, "false", "0") else str(value)


def health_check_errors(job: Mapping[str, Any]) -> list[FieldError]:
    """What is wrong with the annotation."""
    value = _annotation(job)
    if value is None or value in _WORDS or _is_count(value):
        return []
    detail = f"must be true, false, or a number of seconds, at most {_LONGEST}"
    return [invalid(("metadata", "annotations", (HEALTH_CHECK,)), value, detail)]


def with_health_check(job: Json, said: str = "true") -> Json:
    """The job, asking for a check."""
    metadata = job.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    known = given.get("annotations")
    annotations = {**(known if isinstance(known, dict) else {}), HEALTH_CHECK: said}
    return {**job, "metadata": {**given, "annotations": annotations}}


def _annotation(job: Mapping[str, Any]) -> Any:
    metadata = job.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    return annotations.get(HEALTH_CHECK) if isinstance(annotations, Mapping) else None


def _is_count(value: Any) -> bool:
    is_number = isinstance(value, str) and value.isascii() and value.isdigit()
    return is_number and len(value) <= len(str(_LONGEST)) and int(value) <= _LONGEST
