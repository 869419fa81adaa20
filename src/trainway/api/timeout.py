"""How long a job may run: the annotation of jobs whose kind has no field for it. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from trainway.jobset.labels import TIMEOUT_SECONDS
from trainway.schema.field import FieldError, invalid

LONGEST: Final = 2**31 - 1

_UNITS: Final = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def timeout_of(job: Mapping[str, Any]) -> int | None:
    """The seconds that a job may run; None: any time. What is no number counts as none."""
    value = _annotation(job)
    return int(value) if value is not None and _is_count(value) else None


def timeout_errors(job: Mapping[str, Any]) -> list[FieldError]:
    """What is wrong with the annotation."""
    value = _annotation(job)
    if value is None or _is_count(value):
        return []
    return [
        invalid(
            ("metadata", "annotations", (TIMEOUT_SECONDS,)), value, "must be a number of seconds"
        )
    ]


def past_timeout(seconds: int | None) -> str:
    """What is said of a job that ran for longer than it may."""
    return "it ran past its timeout" + ("" if seconds is None else f" of {_duration(seconds)}")


def _annotation(job: Mapping[str, Any]) -> Any:
    metadata = job.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    return annotations.get(TIMEOUT_SECONDS) if isinstance(annotations, Mapping) else None


def _is_count(value: Any) -> bool:
    is_number = isinstance(value, str) and value.isascii() and value.isdigit()
    return is_number and len(value) < len(str(LONGEST)) + 1 and 0 < int(value) <= LONGEST


def _duration(seconds: int) -> str:
    """The duration in full: `90s` is `1m30s`."""
    parts = ""
    for unit, size in _UNITS:
        count, seconds = divmod(seconds, size)
        parts += f"{count}{unit}" if count else ""
    return parts or "0s"
