"""The annotation by which the lines that a job prints become metrics. Pure."""

import re
from collections.abc import Mapping
from typing import Any, Final

from trainway.jobset.labels import METRICS_FROM_LOGS
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

LONGEST: Final = 1_000
"""The most characters of a pattern."""
EXAMPLE: Final = r"step (?P<step>\d+) loss (?P<loss>[-+.e\d]+)"
_SERIES: Final = "a named group for each series"


def with_metrics_from_logs(obj: Mapping[str, Any], pattern: str) -> Json:
    """The job, whose lines are to be read by the pattern; empty: by the default one."""
    metadata = obj.get("metadata") or {}
    said = {**(metadata.get("annotations") or {}), METRICS_FROM_LOGS: pattern}
    return {**obj, "metadata": {**metadata, "annotations": said}}


def pattern_of(job: Mapping[str, Any] | None) -> str | None:
    """The pattern for the lines of a job; None: they are not read."""
    metadata = (job or {}).get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    value = annotations.get(METRICS_FROM_LOGS) if isinstance(annotations, Mapping) else None
    return value if isinstance(value, str) else None


def pattern_errors(job: Mapping[str, Any]) -> list[FieldError]:
    """What is wrong with the annotation."""
    pattern = pattern_of(job)
    problem = _problem(pattern) if pattern else ""
    path = ("metadata", "annotations", (METRICS_FROM_LOGS,))
    return [invalid(path, (pattern or "")[:LONGEST], problem)] if problem else []


def _problem(pattern: str) -> str:
    if len(pattern) > LONGEST:
        return f"must have at most {LONGEST} characters"
    try:
        groups = re.compile(pattern).groupindex
    except (re.error, OverflowError, RecursionError) as error:
        return f"is not a regular expression of Python: {error}"
    if "value" in groups and "name" in groups:
        return ""
    if not set(groups) - {"step", "epoch", "name", "value"}:
        return f"must have {_SERIES}, or the groups name and value: {EXAMPLE}"
    return ""
