"""Whether the nodes of a job are checked before it starts: the annotation that says so. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from trainway.jobset.labels import HEALTH_CHECK
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid
from trainway.schema.shape import FLAG, Either, Number, Word

IN_PODS: Final = "in pods disk and GPUs are checked before the job starts, and not the network"
"""What a job for pods that asks for a check is told."""
_LONGEST: Final = 600
_WORDS: Final = ("true", "false", "torch")


TORCH: Final = "torch"
"""What asks for an all-reduce by the job's own torch as well."""
SHAPE: Final = Either((FLAG, Number(whole=True, least=0, most=_LONGEST), Word((TORCH,))))
"""What `health_check` may be in a file: whether there is a check, how long it may take, or that
torch takes part."""


def health_check(job: Mapping[str, Any], compiled: Mapping[str, Any], usual: str = "") -> str:
    """What is wanted of the check of a job; empty: there is none.

    The job says so itself, or its task does, which its JobSet has; else the usual counts.
    """
    said = (_annotation(job), _annotation(compiled), usual)
    value = next(value for value in said if value is not None)
    return "" if value in ("", "false", "0") else str(value)


def is_said(job: Mapping[str, Any]) -> bool:
    """Whether a job says anything of it."""
    return _annotation(job) is not None


def in_words(value: float | str) -> str:
    """A value that passed `SHAPE`, as the annotation has it."""
    return str(value).lower() if isinstance(value, bool | str) else str(int(value))


def health_check_errors(job: Mapping[str, Any]) -> list[FieldError]:
    """What is wrong with the annotation."""
    value = _annotation(job)
    if not is_said(job) or value in _WORDS or _is_count(value):
        return []
    detail = f"must be true, false, torch, or a number of seconds, at most {_LONGEST}"
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
