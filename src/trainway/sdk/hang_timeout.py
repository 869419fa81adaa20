"""`hang_timeout`: how long a job may be silent, as an annotation of the job. Pure."""

from collections.abc import Sequence

from trainway.errors import UsageError
from trainway.jobset.hang import LONGEST_S
from trainway.jobset.labels import HANG_TIMEOUT
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS

_KINDS = (*JOB_KINDS, "Task")


def with_hang_timeout(objects: Sequence[Json], seconds: float | None) -> list[Json]:
    """The objects, with the time on the job among them."""
    if seconds is None:
        return list(objects)
    if not 1 <= seconds <= LONGEST_S:
        raise UsageError(
            f"{seconds:g} s is too short or too long for a hang timeout",
            field="hang_timeout",
            hint="write a time of at least one second, such as 30m",
        )
    return [_with(obj, str(int(seconds))) if obj.get("kind") in _KINDS else obj for obj in objects]


def _with(obj: Json, text: str) -> Json:
    metadata = obj.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    known = given.get("annotations") if isinstance(given.get("annotations"), dict) else {}
    return {**obj, "metadata": {**given, "annotations": {**(known or {}), HANG_TIMEOUT: text}}}
